import { queryOptions } from '@tanstack/react-query'
import { ownApi } from './client.ts'

/** What this installation offers: billing, sign-ups, the local mailbox. It changes only when the API starts again. */
export const configQuery = queryOptions({
	queryKey: ['config'],
	queryFn: () => ownApi.service.config(),
	staleTime: 5 * 60_000,
})
