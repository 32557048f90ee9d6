import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readFilters, readView } from './campaign-filters.ts'

export const campaignRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'campaigns',
		validateSearch: readFilters,
	}).lazy(() => import('./campaigns-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'campaigns/new',
		validateSearch: ({ template }: Record<string, unknown>): { template?: string } =>
			typeof template === 'string' ? { template } : {},
	}).lazy(() => import('./new-campaign-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'campaigns/$campaignId',
		validateSearch: readView,
	}).lazy(() => import('./campaign-page.tsx').then(({ page }) => page)),
] as const
