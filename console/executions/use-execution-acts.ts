import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Question, useConfirm } from '../parts/confirm.tsx'
import { formatCount } from '../parts/figures.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'

const people = (count: number) => (count === 1 ? '1 execution' : `${formatCount(count)} executions`)

/** Acts on one execution or on many. */
export function useExecutionActs(workflowId: string) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const { mutate, error, isPending } = useMutation({
		mutationFn: (act: () => Promise<string>) => act(),
		onSuccess: (title) => toast({ title }),
		onSettled: () => queries.invalidateQueries({ queryKey: [project.id, 'workflows'] }),
	})
	const ask = async (question: Question, act: () => Promise<string>) => {
		if (await confirm(question)) mutate(act)
	}
	return {
		error,
		isBusy: isPending,
		cancel: (executionId: string, email: string) =>
			void ask(
				{
					title: `Cancel the execution of ${email}?`,
					body: 'No further step starts. Mails that are being sent may still arrive. This cannot be undone.',
					act: 'Cancel the execution',
					isDestructive: true,
				},
				async () => {
					await api.executions.cancel(workflowId, executionId)
					return 'The execution is cancelled'
				},
			),
		cancelAll: (active: number) =>
			void ask(
				{
					title: `Cancel ${people(active)}?`,
					body: 'No further step starts for anyone who is in the workflow now. It stays enabled, so new people can enter. This cannot be undone.',
					act: `Cancel ${people(active)}`,
					isDestructive: true,
				},
				async () => {
					const { cancelled } = await api.executions.cancelAll(workflowId)
					return `${people(cancelled)} cancelled`
				},
			),
		retry: (executionId: string) =>
			mutate(async () => {
				await api.executions.retry(workflowId, executionId)
				return 'The failed step is tried again'
			}),
		retryFailed: (failed: number) =>
			void ask(
				{
					title: `Retry ${people(failed)}?`,
					body: 'Each goes on at the step that failed, with the version that it started with. Executions of deleted contacts, and of contacts who are in the workflow again, are left out.',
					act: `Retry ${people(failed)}`,
				},
				async () => {
					const { retried } = await api.executions.retryFailed(workflowId)
					return `${people(retried)} ${retried === 1 ? 'goes' : 'go'} on`
				},
			),
	}
}
