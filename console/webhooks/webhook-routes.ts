import { createRoute } from '@tanstack/react-router'
import { projectRoute } from '../shell/shell-routes.tsx'
import { readFilters } from './delivery-filters.ts'

export const webhookRoutes = [
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'webhooks',
	}).lazy(() => import('./endpoints-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'webhooks/new',
	}).lazy(() => import('./new-endpoint-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'webhooks/$endpointId',
		validateSearch: readFilters,
	}).lazy(() => import('./endpoint-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'webhooks/$endpointId/edit',
	}).lazy(() => import('./edit-endpoint-page.tsx').then(({ page }) => page)),
	createRoute({
		getParentRoute: () => projectRoute,
		path: 'webhooks/$endpointId/deliveries/$deliveryId',
	}).lazy(() => import('./delivery-page.tsx').then(({ page }) => page)),
] as const
