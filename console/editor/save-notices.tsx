import { useState } from 'react'
import { isStatus } from '../client.ts'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { Fault } from '../parts/fault.tsx'
import { Notice } from '../parts/notice.tsx'
import { discardQuestion } from './discard-question.ts'
import type { Writing } from './writing.ts'

interface Props {
	noun: 'template' | 'campaign'
	/** Of saving. */
	error: unknown
	writing: Writing<{ body: string }>
	/** Saves whatever has happened meanwhile. */
	onOverwrite: () => void
	/** Shows what is stored. */
	onReload: () => void
}

/** Text from before a reload, somebody else's changes and faults: none of them loses a text. */
export function SaveNotices({ noun, error, writing, onOverwrite, onReload }: Props) {
	const [isRestored] = useState(writing.isChanged)
	const confirm = useConfirm()
	async function discard() {
		if (!(await confirm(discardQuestion(noun)))) return
		writing.discard()
		onReload()
	}
	const discarding = <Button onClick={() => void discard()}>Discard my changes</Button>
	if (isStatus(error, 409))
		return (
			<Notice
				tone="warn"
				role="alert"
				actions={
					<>
						<Button onClick={onOverwrite}>Save mine over it</Button>
						{discarding}
					</>
				}
			>
				<p>
					<strong>This {noun} has changed since you opened it.</strong> Your text is still here.
				</p>
			</Notice>
		)
	if (error) return <Fault error={error} />
	if (!isRestored || !writing.isChanged) return null
	return (
		<Notice tone="warn" role="status" actions={discarding}>
			<p>These are your changes from before. They are not saved yet.</p>
		</Notice>
	)
}
