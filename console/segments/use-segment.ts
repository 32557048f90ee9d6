import { useQuery, useQueryClient } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { useProject } from '../shell/projects.ts'

export function useSegment(segmentId: string) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'segments', segmentId],
		queryFn: () => api.segments.get(segmentId),
		refetchInterval: liveMs.slow,
	})
}

/** After a change of segments or their members. */
export function useForgetSegments() {
	const { project } = useProject()
	const queries = useQueryClient()
	return () => queries.invalidateQueries({ queryKey: [project.id, 'segments'] })
}
