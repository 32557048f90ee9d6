import { useIsMutating } from '@tanstack/react-query'

/** The key of acts on a workflow as a whole, such as its renaming. */
export const actOn = (workflowId: string | undefined) => ['act on a workflow', workflowId]

export const useIsActing = (workflowId: string) =>
	useIsMutating({ mutationKey: actOn(workflowId) }) > 0

export const deletionOf = (workflowId: string | undefined) => ['deletion of a workflow', workflowId]

/** Its page has nothing more to ask for. */
export const useIsDeleting = (workflowId: string) =>
	useIsMutating({ mutationKey: deletionOf(workflowId) }) > 0
