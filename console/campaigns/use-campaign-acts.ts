import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Campaign } from '../../client/index.ts'
import { type Question, useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { useToast } from '../parts/toast.tsx'
import { copyQuestion, discardUnsaved, hasUnsaved } from '../parts/use-leaving.ts'
import { useProject } from '../shell/projects.ts'
import { countOf } from './sending.ts'

interface Act {
	/** Asked with the counts of this moment. null: there is nothing to ask. */
	question?: () => Promise<Question | null>
	act: () => Promise<unknown>
	said: string
}

/** The acts besides writing and sending. Those that others notice are asked for. */
export function useCampaignActs({ id, name, status, totalRecipients }: Campaign) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const navigate = useNavigate()
	const { mutate, error, isPending, reset } = useMutation({
		async mutationFn({ question, act, said }: Act) {
			const asked = await question?.()
			if (asked && !(await confirm(asked))) return
			await act()
			toast({ title: said })
			await queries.invalidateQueries({ queryKey: [project.id, 'campaigns'] })
		},
	})
	const open = async () => {
		const { pending, sending, sent, paused } = await api.campaigns.progress(id)
		return { open: pending + sending, sent, paused }
	}
	return {
		error,
		isPending,
		reset,
		duplicate: () =>
			mutate({
				question: async () => (hasUnsaved() ? copyQuestion : null),
				async act() {
					const copy = await api.campaigns.duplicate(id)
					discardUnsaved()
					await navigate({
						to: '/console/$projectId/campaigns/$campaignId',
						params: { projectId: project.id, campaignId: copy.id },
						search: {},
					})
				},
				said: 'This is the copy, a draft',
			}),
		remove: () =>
			mutate({
				question: () => Promise.resolve(deletion(name, status)),
				async act() {
					await api.campaigns.delete(id)
					discardUnsaved()
					await navigate({
						to: '/console/$projectId/campaigns',
						params: { projectId: project.id },
					})
				},
				said: `“${name}” is deleted`,
			}),
		pause: () =>
			mutate({
				question: async () => {
					const { open: left } = await open()
					return {
						title: 'Pause the campaign?',
						body: `${countOf(left)} ${left === 1 ? 'has' : 'have'} not got it yet. The rest waits until you resume it. A few mails may still leave within two seconds.`,
						act: 'Pause the campaign',
					}
				},
				act: () => api.campaigns.pause(id),
				said: 'The campaign is paused',
			}),
		resume: () =>
			mutate({
				question: async () => ({
					title: 'Resume the campaign?',
					body: `It is sent to the rest of the audience: ${countOf((await open()).open)}.`,
					act: 'Resume the campaign',
				}),
				act: () => api.campaigns.resume(id),
				said: 'The campaign is being sent again',
			}),
		cancel: () =>
			mutate({
				question: async () =>
					status === 'SCHEDULED'
						? scheduledCancellation(totalRecipients)
						: cancellation(await open()),
				act: () => api.campaigns.cancel(id),
				said: 'The campaign is cancelled',
			}),
	}
}

const deletion = (name: string, status: string): Question => ({
	title: `Delete “${name}”?`,
	body:
		status === 'DRAFT'
			? 'The draft is lost. Nothing of it was sent.'
			: 'The campaign and its figures leave the list. Mails that it has sent stay under “Emails”. This cannot be undone.',
	act: 'Delete the campaign',
	isDestructive: true,
})

interface Standing {
	open: number
	sent: number
	paused: boolean
}

const scheduledCancellation = (count: number): Question => ({
	title: 'Cancel the campaign?',
	body: `${countOf(count)} will not get it. A cancelled campaign cannot be sent; duplicate it to send it after all.`,
	act: 'Cancel the campaign',
	back: 'Keep it scheduled',
	isDestructive: true,
})

const cancellation = ({ open, sent, paused }: Standing): Question => ({
	title: 'Cancel the campaign?',
	body: `${countOf(open)} will not get it. ${counted(sent, 'mail')} ${sent === 1 ? 'has left and stays' : 'have left and stay'} sent. This cannot be undone.`,
	act: 'Cancel the campaign',
	back: paused ? 'Keep it paused' : 'Keep sending',
	isDestructive: true,
})
