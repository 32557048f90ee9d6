import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'

export const systemRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'system',
	}).lazy(() => import('./system-page.tsx').then(({ page }) => page)),
] as const
