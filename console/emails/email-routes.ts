import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readFilters } from './email-filters.ts'

export const emailRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'emails',
		validateSearch: readFilters,
	}).lazy(() => import('./emails-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'emails/$emailId',
	}).lazy(() => import('./email-page.tsx').then(({ page }) => page)),
] as const
