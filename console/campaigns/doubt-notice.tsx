import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { Fault } from '../parts/fault.tsx'
import { counted } from '../parts/counted.ts'
import { Notice } from '../parts/notice.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'

interface Props {
	campaign: Campaign
	/** How many of its mails are in doubt. */
	count: number
}

/** Mails that were handed over without an answer. Only a person can say what became of them. */
export function DoubtNotice({ campaign: { id }, count }: Props) {
	const { resolve, isPending, error } = useResolving(id, count)
	return (
		<Notice
			tone="warn"
			actions={
				<>
					<Button isBusy={isPending} onClick={() => resolve('sent')}>
						Count as sent
					</Button>
					<Button isBusy={isPending} onClick={() => resolve('retry')}>
						Send again
					</Button>
				</>
			}
		>
			<p>
				<strong>
					{counted(count, 'mail')} {count === 1 ? 'is' : 'are'} in doubt.
				</strong>{' '}
				The provider took {count === 1 ? 'it' : 'them'} and gave no answer.
			</p>
			<Fault error={error} />
		</Notice>
	)
}

const resolvedInWords = (count: number, as: 'sent' | 'retry') => {
	const mails = counted(count, 'mail')
	if (as === 'sent') return `${mails} ${count === 1 ? 'counts' : 'count'} as sent`
	return `${mails} ${count === 1 ? 'is' : 'are'} being sent again`
}

function useResolving(id: string, count: number) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const mails = counted(count, 'mail')
	const { mutate, isPending, error } = useMutation({
		async mutationFn(as: 'sent' | 'retry') {
			const isSure = await confirm(
				as === 'sent'
					? {
							title: `Count ${mails} as sent?`,
							body: 'Nothing is sent. Those that never arrived do not arrive.',
							act: `Count ${mails} as sent`,
						}
					: {
							title: `Send ${mails} again?`,
							body: 'Those that did arrive arrive a second time.',
							act: `Send ${mails} again`,
						},
			)
			if (!isSure) return
			let resolved = 0
			// A call takes at most ten seconds, and says how many are left.
			for (;;) {
				const done = await api.campaigns.resolve(id, { as })
				resolved += done.resolved
				if (done.uncertain === 0 || done.resolved === 0) break
			}
			toast({
				title: resolvedInWords(resolved, as),
			})
			await queries.invalidateQueries({ queryKey: [project.id, 'campaigns'] })
		},
	})
	return { resolve: (as: 'sent' | 'retry') => mutate(as), isPending, error }
}
