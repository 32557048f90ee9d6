import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { liveMs } from '../client.ts'
import { useProject } from '../shell/projects.ts'

/** A job, followed to its end. Then contacts and segments are asked for again. */
export function useJob<Job extends { finishedAt: string | null }>(
	jobId: string,
	get: (jobId: string) => Promise<Job>,
) {
	const { project } = useProject()
	const queries = useQueryClient()
	const {
		data: job,
		error,
		refetch,
	} = useQuery({
		queryKey: [project.id, 'jobs', jobId],
		queryFn: () => get(jobId),
		refetchInterval: ({ state }) => (state.data?.finishedAt ? false : liveMs.fast),
	})
	const isEnded = Boolean(job?.finishedAt)
	useEffect(() => {
		if (!isEnded) return
		void queries.invalidateQueries({ queryKey: [project.id, 'contacts'] })
		void queries.invalidateQueries({ queryKey: [project.id, 'segments'] })
	}, [isEnded, queries, project.id])
	return { job, error, retry: () => void refetch() }
}
