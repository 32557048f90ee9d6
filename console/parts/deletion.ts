import { useIsMutating } from '@tanstack/react-query'

/** The key of the deletion of something with a page of its own, which then has nothing more to ask for. */
export const deletionOf = (id: string | undefined) => ['deletion', id]

export const useIsDeleting = (id: string) => useIsMutating({ mutationKey: deletionOf(id) }) > 0
