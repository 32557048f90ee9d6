import { createRoute } from '@tanstack/react-router'
import { executionRoutes } from '../executions/execution-routes.ts'
import { projectRoute } from '../shell/shell-routes.tsx'

const states = ['active', 'disabled'] as const
const tabs = ['people', 'versions'] as const
const statuses = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const

interface ListSearch {
	search?: string | undefined
	state?: (typeof states)[number] | undefined
	page?: number | undefined
}

export interface WorkflowSearch {
	/** Absent: the graph. */
	tab?: (typeof tabs)[number] | undefined
	view?: 'list' | undefined
	step?: string | undefined
	/** Filters of the people. */
	status?: (typeof statuses)[number] | undefined
	at?: string | undefined
	page?: number | undefined
	/** The version that is shown, and the one it is compared with. */
	version?: number | undefined
	with?: number | undefined
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const numberOf = (value: unknown) =>
	typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined

export const workflowRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'workflows',
		validateSearch: (given: Record<string, unknown>): ListSearch => ({
			search:
				typeof given['search'] === 'number' ? String(given['search']) : textOf(given['search']),
			state: states.find((one) => one === given['state']),
			page: numberOf(given['page']),
		}),
	}).lazy(() => import('./workflows-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'workflows/$workflowId',
		validateSearch: (given: Record<string, unknown>): WorkflowSearch => ({
			tab: tabs.find((one) => one === given['tab']),
			view: given['view'] === 'list' ? 'list' : undefined,
			step: textOf(given['step']),
			status: statuses.find((one) => one === given['status']),
			at: textOf(given['at']),
			page: numberOf(given['page']),
			version: numberOf(given['version']),
			with: numberOf(given['with']),
		}),
	}).lazy(() => import('./workflow-page.tsx').then(({ page }) => page)),
	...executionRoutes,
] as const
