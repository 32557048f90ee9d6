import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { WebhookEndpoint } from '../../client/index.ts'
import { type Question, useConfirm } from '../parts/confirm.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { waitingOf } from './endpoint-state.tsx'
import { webhooksKey } from './webhook-queries.ts'

/** What can be done with an endpoint as a whole. */
export function useEndpointActs(endpoint: WebhookEndpoint) {
	const current = useProject()
	const { webhookEndpoints } = current.api
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const navigate = useNavigate()
	const { id } = endpoint
	const params = { projectId: current.project.id, endpointId: id }

	const { mutate, isPending, error } = useMutation({
		mutationFn: (act: () => Promise<unknown>) => act(),
		onSettled: () => queries.invalidateQueries({ queryKey: webhooksKey(current) }),
	})
	const rotation = useMutation({
		mutationFn: () => webhookEndpoints.rotateSecret(id),
		// The secret is gone with the dialog that shows it.
		gcTime: 0,
	})
	const asked = async (question: Question, act: () => void) => {
		if (await confirm(question)) act()
	}
	const setEnabled = (enabled: boolean) =>
		mutate(async () => {
			await webhookEndpoints.update(id, { enabled })
			toast(
				enabled
					? { title: 'The endpoint is enabled. Replay what it missed.' }
					: { title: 'The endpoint is disabled', undo: () => setEnabled(true) },
			)
		})
	return {
		isPending: isPending || rotation.isPending,
		error: error ?? rotation.error,
		secret: rotation.data?.secret,
		forget: rotation.reset,
		edit: () => void navigate({ to: '/console/$projectId/webhooks/$endpointId/edit', params }),
		enable: () => setEnabled(true),
		disable: () =>
			void asked(
				{
					title: 'Disable this endpoint?',
					body: `Nothing is delivered to it any more: waiting deliveries (${waitingOf(endpoint)}) and further events are kept for 30 days. Once it is enabled again, they can be replayed.`,
					act: 'Disable the endpoint',
					isDestructive: true,
				},
				() => setEnabled(false),
			),
		rotate: () =>
			void asked(
				{
					title: 'Make a new secret?',
					body: 'Replace the secret on your server within 24 hours. Until then, requests are also signed with the previous one. A new secret cannot be taken back.',
					act: 'Make a new secret',
				},
				() => rotation.mutate(),
			),
		remove: () =>
			void asked(
				{
					title: 'Delete this endpoint?',
					body: `Its waiting deliveries (${waitingOf(endpoint)}) are not made, and the history of its deliveries is deleted. This cannot be undone.`,
					act: 'Delete the endpoint',
					isDestructive: true,
				},
				() =>
					mutate(async () => {
						await webhookEndpoints.delete(id)
						await navigate({ to: '/console/$projectId/webhooks', params })
						toast({ title: 'The endpoint is deleted' })
					}),
			),
	}
}
