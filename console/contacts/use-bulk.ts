import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { BulkSelection } from '../../client/index.ts'
import { type Question, useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { useProject } from '../shell/projects.ts'
import { type BulkAct, beginBulk, rememberUndo } from './bulk-acts.ts'
import { type ContactFilters, filterOf } from './contact-filters.ts'
import { bulkOf, type Selection } from './selection.ts'

const route = getRouteApi('/console/$projectId/contacts')

interface Options {
	filters: ContactFilters
	chosen: Selection
	count: number | undefined
	onDone: () => void
}

/** Begins a bulk job after a question with its count; the address follows the job. */
export function useBulk({ filters, chosen, count, onDone }: Options) {
	const { api } = useProject()
	const confirm = useConfirm()
	const navigate = route.useNavigate()
	const { mutate, error, isPending } = useMutation({
		mutationFn: ({ act, selection }: { act: BulkAct; selection: BulkSelection }) =>
			beginBulk(api, act, selection),
		onSuccess: ({ jobId }, { act }) => {
			const contactIds = idsChangedBy(act, chosen)
			if (contactIds.length > 0) rememberUndo(jobId, undoing(act, jobId, contactIds))
			onDone()
			return navigate({ search: (old) => ({ ...old, job: jobId }), replace: true })
		},
	})
	async function ask(act: BulkAct) {
		if (await confirm(questionOf(act, count)))
			mutate({ act, selection: bulkOf(chosen, filterOf(filters)) })
	}
	return { act: (act: BulkAct) => void ask(act), error, isBusy: isPending }
}

/** People who unsubscribe by themselves meanwhile stay unsubscribed. */
const undoing = (act: BulkAct, jobId: string, contactIds: string[]) =>
	act === 'unsubscribe'
		? { act: 'subscribe' as const, selection: { contactIds, undoes: jobId } }
		: { act: 'unsubscribe' as const, selection: { contactIds } }

/** Of contacts that were chosen one by one it is known what they were: that can be taken back. */
function idsChangedBy(act: BulkAct, chosen: Selection) {
	if (act === 'delete' || chosen.mode === 'query') return []
	return [...chosen.chosen.values()]
		.filter(({ subscribed }) => subscribed === (act === 'unsubscribe'))
		.map(({ id }) => id)
}

function questionOf(act: BulkAct, count: number | undefined): Question {
	const them = count === undefined ? 'all contacts that match' : counted(count, 'contact')
	if (act === 'delete')
		return {
			title: `Delete ${them}?`,
			body: 'Their workflow executions end. Their mails stay on the page “Emails”, with their addresses. This cannot be undone.',
			act: `Delete ${them}`,
			isDestructive: true,
		}
	if (act === 'subscribe')
		return {
			title: `Subscribe ${them}?`,
			body: 'They get campaigns. Do this only with their consent. Each change emits an event, which can start workflows.',
			act: `Subscribe ${them}`,
		}
	return {
		title: `Unsubscribe ${them}?`,
		body: 'They no longer get campaigns. Each change emits an event, which can start workflows.',
		act: `Unsubscribe ${them}`,
		isDestructive: true,
	}
}
