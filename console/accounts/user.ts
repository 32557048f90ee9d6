import { queryOptions } from '@tanstack/react-query'
import { ownApi } from '../client.ts'

/** The person who is logged in. */
export const userQuery = queryOptions({
	queryKey: ['user'],
	queryFn: () => ownApi.auth.user(),
	staleTime: 60_000,
})
