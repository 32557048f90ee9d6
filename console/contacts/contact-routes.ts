import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readContactFilters } from './contact-filters.ts'
import { readHistoryTab } from './history-tabs.ts'

export const contactRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'contacts',
		validateSearch: readContactFilters,
	}).lazy(() => import('./contacts-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'contacts/new',
	}).lazy(() => import('./new-contact-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'contacts/import',
		validateSearch: ({ job }: Record<string, unknown>): { job?: string | undefined } => ({
			job: typeof job === 'string' ? job : undefined,
		}),
	}).lazy(() => import('./import-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'contacts/fields',
	}).lazy(() => import('./fields-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'contacts/$contactId',
		validateSearch: readHistoryTab,
	}).lazy(() => import('./contact-page.tsx').then(({ page }) => page)),
] as const
