import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ownApi } from '../client.ts'
import { userQuery } from './user.ts'

/** Sends the mail that verifies the person's address once more. */
export function useVerification() {
	const queries = useQueryClient()
	const { mutate, isPending, data, error } = useMutation({
		mutationFn: () => ownApi.auth.requestVerification(),
		// It may be verified already.
		onSuccess: () => queries.invalidateQueries({ queryKey: userQuery.queryKey }),
	})
	return { send: () => mutate(), isSending: isPending, answer: data?.message, error }
}
