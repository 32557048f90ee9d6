import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { liveMs } from '../client.ts'
import { useIsDeleting } from '../parts/deletion.ts'
import { segmentsQuery } from '../segments/segments-query.ts'
import { useProject } from '../shell/projects.ts'
import type { Names } from './step-words.ts'

/** Polled: how many people are at each step changes without us. */
export function useWorkflow(workflowId: string, isLive = true) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'workflows', workflowId],
		queryFn: () => api.workflows.get(workflowId),
		enabled: !useIsDeleting(workflowId),
		refetchInterval: isLive && liveMs.normal,
	})
}

export function usePassage(workflowId: string) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'workflows', workflowId, 'passage'],
		queryFn: () => api.workflows.getPassage(workflowId),
		enabled: !useIsDeleting(workflowId),
		refetchInterval: liveMs.slow,
	})
}

export function useVersions(workflowId: string) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'workflows', workflowId, 'versions'],
		queryFn: () => api.workflows.listVersions(workflowId),
		enabled: !useIsDeleting(workflowId),
		refetchInterval: liveMs.slow,
	})
}

/** It never changes. */
export function useVersion(workflowId: string, version: number) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'workflows', workflowId, 'versions', version],
		queryFn: () => api.workflows.getVersion(workflowId, String(version)),
		staleTime: Infinity,
	})
}

export function useSegments() {
	return useQuery(segmentsQuery(useProject()))
}

type Named = { template: { id: string; name: string } | null }
const none: Named[] = []

/**
 * Names of what steps refer to. Steps of the workflow bring the names of their templates; others are asked for, such as
 * those of old versions.
 */
export function useNames(steps: { templateId: string | null }[], known: Named[] = none): Names {
	const { project, api } = useProject()
	const { data: segments } = useSegments()
	const ofSteps = useMemo(
		() =>
			new Map(known.flatMap(({ template }) => (template ? [[template.id, template.name]] : []))),
		[known],
	)
	const missing = useMemo(() => {
		const ids = steps.flatMap(({ templateId }) => templateId ?? [])
		return [...new Set(ids)].filter((id) => !ofSteps.has(id))
	}, [steps, ofSteps])
	const asked = useQueries({
		queries: missing.map((id) => ({
			queryKey: [project.id, 'templates', 'name', id],
			queryFn: () => api.templates.get(id).then(({ name }) => [id, name] as const),
			staleTime: 60_000,
		})),
		combine: namesOf,
	})
	return useMemo(
		() => ({
			templates: new Map([...ofSteps, ...asked]),
			segments: new Map((segments ?? []).map(({ id, name }) => [id, name])),
		}),
		[segments, asked, ofSteps],
	)
}

const namesOf = (results: { data: readonly [string, string] | undefined }[]) =>
	results.flatMap(({ data }) => (data ? [data] : []))
