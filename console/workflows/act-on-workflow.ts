import { useIsMutating } from '@tanstack/react-query'

const mutationKey = (workflowId: string | undefined) => ['act on a workflow', workflowId]

/**
 * For acts that change the version of a workflow, such as saving or renaming it: each waits until the version that the
 * one before has made is loaded.
 */
export const actOn = (workflowId: string | undefined) => ({
	mutationKey: mutationKey(workflowId),
	...(workflowId !== undefined && { scope: { id: workflowId } }),
})

/** Performs an act together with what belongs to it. */
export type Perform = (act: () => Promise<unknown>) => Promise<unknown>

export const useIsActing = (workflowId: string) =>
	useIsMutating({ mutationKey: mutationKey(workflowId) }) > 0
