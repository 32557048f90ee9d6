import { queryOptions } from '@tanstack/react-query'
import type { Current } from '../shell/projects.ts'

/** All segments of the project, for every page that names them. */
export const segmentsQuery = ({ project, api }: Current) =>
	queryOptions({
		queryKey: [project.id, 'segments'],
		queryFn: () => api.segments.list(),
		staleTime: 60_000,
	})
