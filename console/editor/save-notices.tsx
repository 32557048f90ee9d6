import { isStatus } from '../client.ts'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { Fault } from '../parts/fault.tsx'
import { Notice } from '../parts/notice.tsx'
import { discardQuestion } from './discard-question.ts'

interface Work {
	isChanged: boolean
	/** Whether it was there when its page was opened. */
	isRestored: boolean
	discard: () => void
}

interface Props {
	noun: 'template' | 'campaign' | 'workflow'
	/** The saving, as its button says it. */
	act?: string
	/** Of saving. */
	error: unknown
	work: Work
	isBusy?: boolean
	/** Saves whatever has happened meanwhile. */
	onOverwrite: () => void
	/** Shows what is stored. */
	onReload?: () => void
}

/** Changes from before a reload, somebody else's changes and faults: none of them loses work. */
export function SaveNotices({
	noun,
	act = 'Save',
	error,
	work,
	isBusy = false,
	onOverwrite,
	onReload,
}: Props) {
	const confirm = useConfirm()
	async function discard() {
		if (!(await confirm(discardQuestion(noun)))) return
		work.discard()
		onReload?.()
	}
	const discarding = <Button onClick={() => void discard()}>Discard my changes</Button>
	if (isStatus(error, 409))
		return (
			<Notice
				tone="warn"
				role="alert"
				actions={
					<>
						<Button onClick={onOverwrite} isBusy={isBusy}>
							{act} mine over it
						</Button>
						{discarding}
					</>
				}
			>
				<p>
					<strong>This {noun} has changed since you opened it.</strong> Your changes are still here.
				</p>
			</Notice>
		)
	if (error) return <Fault error={error} />
	if (!work.isRestored || !work.isChanged) return null
	return (
		<Notice tone="warn" role="status" actions={discarding}>
			<p>These are your changes from before. They are not saved yet.</p>
		</Notice>
	)
}
