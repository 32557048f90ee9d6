import { queryOptions } from '@tanstack/react-query'
import type { Project, Tempost } from '../../client/index.ts'
import { liveMs } from '../client.ts'

interface Current {
	project: Project
	api: Tempost
}

/** All that is known about webhooks: acts invalidate it. */
export const webhooksKey = ({ project }: Pick<Current, 'project'>) => [project.id, 'webhooks']

export const endpointsQuery = (current: Current) =>
	queryOptions({
		queryKey: [...webhooksKey(current), 'endpoints'],
		queryFn: () => current.api.webhookEndpoints.list(),
		refetchInterval: liveMs.normal,
	})

export const endpointQuery = (current: Current, endpointId: string) =>
	queryOptions({
		queryKey: [...webhooksKey(current), endpointId],
		queryFn: () => current.api.webhookEndpoints.get(endpointId),
		refetchInterval: liveMs.normal,
	})
