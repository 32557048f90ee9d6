import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'

export const domainRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'domains',
	}).lazy(() => import('./domains-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'domains/$domainId',
	}).lazy(() => import('./domain-page.tsx').then(({ page }) => page)),
] as const
