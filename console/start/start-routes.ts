import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { StartPage } from './start-page.tsx'

export const startRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: '/',
		// Loaded with the console: most people begin here.
		component: StartPage,
	}),
] as const
