import { queryOptions } from '@tanstack/react-query'
import { ownApi } from '../client.ts'
import { keepDraftsOf } from '../editor/drafts.ts'

/** The person who is logged in. */
export const userQuery = queryOptions({
	queryKey: ['user'],
	queryFn: async () => {
		const user = await ownApi.auth.user()
		keepDraftsOf(user.id)
		return user
	},
	staleTime: 60_000,
})
