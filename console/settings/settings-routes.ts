import { createRoute } from '@tanstack/react-router'
import { readAuditFilters } from '../audit/audit-filters.ts'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readSuppressionFilters } from '../suppressions/suppression-filters.ts'

const settings = createRoute({
	getParentRoute: () => projectRoute,
	path: 'settings',
}).lazy(() => import('./settings-page.tsx').then(({ page }) => page))

const general = createRoute({
	getParentRoute: () => settings,
	path: '/',
}).lazy(() => import('./general-page.tsx').then(({ page }) => page))

const members = createRoute({
	getParentRoute: () => settings,
	path: 'members',
}).lazy(() => import('../members/members-page.tsx').then(({ page }) => page))

const keys = createRoute({
	getParentRoute: () => settings,
	path: 'keys',
}).lazy(() => import('../keys/keys-page.tsx').then(({ page }) => page))

const sending = createRoute({
	getParentRoute: () => settings,
	path: 'sending',
}).lazy(() => import('./sending-page.tsx').then(({ page }) => page))

const suppressions = createRoute({
	getParentRoute: () => settings,
	path: 'suppressions',
	validateSearch: readSuppressionFilters,
}).lazy(() => import('../suppressions/suppressions-page.tsx').then(({ page }) => page))

const reputation = createRoute({
	getParentRoute: () => settings,
	path: 'reputation',
}).lazy(() => import('./reputation-page.tsx').then(({ page }) => page))

const audit = createRoute({
	getParentRoute: () => settings,
	path: 'audit',
	validateSearch: readAuditFilters,
}).lazy(() => import('../audit/audit-page.tsx').then(({ page }) => page))

const billing = createRoute({
	getParentRoute: () => settings,
	path: 'billing',
}).lazy(() => import('../billing/billing-page.tsx').then(({ page }) => page))

export const settingsRoutes = [
	settings.addChildren([general, members, keys, sending, suppressions, reputation, audit, billing]),
] as const
