import { queryOptions } from '@tanstack/react-query'
import type { Domain } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import type { Current } from '../shell/projects.ts'

/** The results of the last checks. While one is pending, the service looks again by itself every few minutes. */
export const domainsQuery = ({ project, api }: Current) =>
	queryOptions({
		queryKey: [project.id, 'domains'],
		queryFn: () => api.domains.list(project.id),
		refetchInterval: ({ state }) =>
			state.data?.some(({ verified }) => !verified) ? liveMs.slow : false,
	})

/** The list with one domain as a check has found it. */
export const withChecked = (checked: Domain) => (domains: Domain[] | undefined) =>
	domains?.map((one) => (one.id === checked.id ? checked : one))
