import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readFilters } from './template-filters.ts'

export const templateRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'templates',
		validateSearch: readFilters,
	}).lazy(() => import('./templates-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'templates/$templateId',
	}).lazy(() => import('./template-page.tsx').then(({ page }) => page)),
] as const
