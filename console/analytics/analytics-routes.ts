import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readPeriod } from './period.ts'

export const analyticsRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'analytics',
		validateSearch: readPeriod,
	}).lazy(() => import('./analytics-page.tsx').then(({ page }) => page)),
] as const
