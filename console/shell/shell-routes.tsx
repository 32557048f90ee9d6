import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { isStatus } from '../client.ts'
import { Fault } from '../parts/fault.tsx'
import { NotFound } from './not-found.tsx'
import { lastProject, projectsQuery } from './projects.ts'
import { Shell } from './shell.tsx'

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
	component: Outlet,
	errorComponent: ({ error, reset }) => <Fault error={error} retry={reset} />,
	notFoundComponent: NotFound,
})

/** `/` leads to the project that was looked at last. */
export const homeRoute = createRoute({
	getParentRoute: () => rootRoute,
	path: '/',
	beforeLoad: async ({ context }) => {
		const projects = await orLogIn('/', () => context.queries.ensureQueryData(projectsQuery))
		const project = projects.find(({ id }) => id === lastProject()) ?? projects[0]
		throw project
			? redirect({ to: '/console/$projectId', params: { projectId: project.id }, replace: true })
			: redirect({ to: '/console/new-project', replace: true })
	},
})

export const projectRoute = createRoute({
	getParentRoute: () => rootRoute,
	path: '/console/$projectId',
	loader: ({ context, location }) =>
		orLogIn(location.href, () => context.queries.ensureQueryData(projectsQuery)),
	component: Shell,
	notFoundComponent: NotFound,
})

async function orLogIn<Answer>(next: string, ask: () => Promise<Answer>) {
	try {
		return await ask()
	} catch (error) {
		if (isStatus(error, 401)) throw redirect({ to: '/console/log-in', search: { next } })
		throw error
	}
}
