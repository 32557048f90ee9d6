import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { userQuery } from '../accounts/user.ts'
import { isStatus } from '../client.ts'
import { configQuery } from '../config.ts'
import { Fault } from '../parts/fault.tsx'
import { NotFound } from './not-found.tsx'
import { lastProject, projectsQuery } from './projects.ts'
import { Shell } from './shell.tsx'

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
	component: Outlet,
	errorComponent: ({ error, reset }) => <Fault error={error} retry={reset} />,
	notFoundComponent: NotFound,
})

/** `/` and `/console` lead to the project that was looked at last. */
export const homeRoutes = (['/', '/console'] as const).map((path) =>
	createRoute({
		getParentRoute: () => rootRoute,
		path,
		beforeLoad: async ({ context }) => {
			const projects = await orLogIn('/', () => context.queries.ensureQueryData(projectsQuery))
			const project = projects.find(({ id }) => id === lastProject()) ?? projects[0]
			throw project
				? redirect({ to: '/console/$projectId', params: { projectId: project.id }, replace: true })
				: redirect({ to: '/console/new-project', replace: true })
		},
	}),
)

export const projectRoute = createRoute({
	getParentRoute: () => rootRoute,
	path: '/console/$projectId',
	loader: async ({ context: { queries }, location }) => {
		// The navigation and the notice above the page depend on them, and must not jump.
		const known = Promise.all([
			queries.prefetchQuery(configQuery),
			queries.prefetchQuery(userQuery),
		])
		await orLogIn(location.href, () => queries.ensureQueryData(projectsQuery))
		await known
	},
	component: Shell,
	notFoundComponent: NotFound,
})

/** Leads to the log-in if there is no session, and back to `next` afterwards. */
export async function orLogIn<Answer>(next: string, ask: () => Promise<Answer>) {
	try {
		return await ask()
	} catch (error) {
		if (isStatus(error, 401)) throw redirect({ to: '/console/log-in', search: { next } })
		throw error
	}
}
