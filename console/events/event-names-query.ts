import { queryOptions } from '@tanstack/react-query'
import type { Current } from '../shell/projects.ts'

/** The names of events that have happened in the project. */
export const eventNamesQuery = ({ project, api }: Current) =>
	queryOptions({
		queryKey: [project.id, 'events', 'names'],
		queryFn: () => api.events.listNames(),
		staleTime: 60_000,
	})
