import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'

export const executionRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'workflows/$workflowId/executions/$executionId',
	}).lazy(() => import('./execution-page.tsx').then(({ page }) => page)),
] as const
