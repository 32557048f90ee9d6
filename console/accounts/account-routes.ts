import { createRoute } from '@tanstack/react-router'
import { orLogIn, rootRoute } from '../shell/shell-routes.tsx'
import { userQuery } from './user.ts'

export const accountRoutes = [
	createRoute({
		getParentRoute: () => rootRoute,
		path: '/console/log-in',
		validateSearch: ({ next }: Record<string, unknown>): { next?: string | undefined } => ({
			// Only to a page of ours.
			next: typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : undefined,
		}),
	}).lazy(() => import('./log-in-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => rootRoute,
		path: '/console/sign-up',
	}).lazy(() => import('./sign-up-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => rootRoute,
		path: '/console/new-project',
	}).lazy(() => import('./new-project-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => rootRoute,
		path: '/console/account',
		beforeLoad: ({ context, location }) =>
			orLogIn(location.href, () => context.queries.ensureQueryData(userQuery)),
	}).lazy(() => import('./account-page.tsx').then(({ page }) => page)),
] as const
