import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type Question, useConfirm } from './confirm.tsx'
import { useToast } from './toast.tsx'

interface Act {
	/** Asked before. */
	question?: Question
	act: () => Promise<unknown>
	/** Said when it is done. */
	said?: string
	/** Takes it back, and says so. */
	undo?: { act: () => Promise<unknown>; said: string }
}

/** Acts of a page: each asks first where it must, says what it did, and renews what it changed. */
export function useAct(...changed: QueryKey[]) {
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const { mutate, error, isPending } = useMutation({
		// An answer may contain a secret.
		gcTime: 0,
		mutationFn: ({ act }: Act) => act(),
		onSuccess: async (_answer, { said, undo }) => {
			if (said) toast({ title: said, ...(undo && { undo: () => mutate(undo) }) })
			await Promise.all(changed.map((queryKey) => queries.invalidateQueries({ queryKey })))
		},
	})
	async function run({ question, ...act }: Act) {
		if (!question || (await confirm(question))) mutate(act)
	}
	return { run: (act: Act) => void run(act), error, isBusy: isPending }
}
