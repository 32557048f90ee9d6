import { useBlocker } from '@tanstack/react-router'
import { useConfirm } from '../parts/confirm.tsx'

/** Asks before changes are lost by leaving the workflow. Its tabs keep them. */
export function useLeaving(workflowId: string, isDirty: boolean) {
	const confirm = useConfirm()
	useBlocker({
		disabled: !isDirty,
		enableBeforeUnload: isDirty,
		shouldBlockFn: async ({ next }) => {
			if (next.pathname.endsWith(`/workflows/${workflowId}`)) return false
			const isSure = await confirm({
				title: 'Leave without saving?',
				body: 'Your changes of this workflow are lost.',
				act: 'Leave without saving',
				isDestructive: true,
			})
			return !isSure
		},
	})
}
