import { createRoute } from '@tanstack/react-router'
import type { Condition } from '../../client/index.ts'
import { readCondition } from '../conditions/condition-reading.ts'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readSegmentFilters } from './segment-filters.ts'

/** A list of contacts can become a segment. */
interface NewSegment {
	condition?: Condition | undefined
}

export const segmentRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'segments',
		validateSearch: readSegmentFilters,
	}).lazy(() => import('./segments-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'segments/new',
		validateSearch: ({ condition }: Record<string, unknown>): NewSegment => ({
			condition: readCondition(condition),
		}),
	}).lazy(() => import('./new-segment-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'segments/$segmentId',
	}).lazy(() => import('./segment-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'segments/$segmentId/edit',
	}).lazy(() => import('./edit-segment-page.tsx').then(({ page }) => page)),
] as const
