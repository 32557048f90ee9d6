import { useIsMutating } from '@tanstack/react-query'

/** The key of acts on a workflow as a whole, such as its renaming. */
export const actOn = (workflowId: string | undefined) => ['act on a workflow', workflowId]

export const useIsActing = (workflowId: string) =>
	useIsMutating({ mutationKey: actOn(workflowId) }) > 0
