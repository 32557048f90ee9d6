import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'

export const startRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: '/',
	}).lazy(() => import('./start-page.tsx').then(({ page }) => page)),
] as const
