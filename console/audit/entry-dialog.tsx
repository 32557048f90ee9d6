import type { ReactNode } from 'react'
import type { AuditEntry } from '../../client/index.ts'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/figures.tsx'
import { Time } from '../parts/time.tsx'
import { actionInWords } from './action-words.ts'

/** All that is known of one change. */
export const EntryDialog = ({
	entry,
	onClose,
}: {
	entry: AuditEntry | null
	onClose: () => void
}) => (
	<Dialog
		title={entry ? actionInWords(entry.action) : ''}
		isOpen={entry !== null}
		onClose={onClose}
	>
		{entry && <Facts facts={factsOf(entry)} />}
	</Dialog>
)

const factsOf = ({
	action,
	actor,
	target,
	status,
	ip,
	userAgent,
	requestId,
	createdAt,
}: AuditEntry) => {
	const facts: [string, ReactNode][] = [
		['Time', <Time at={createdAt} as="date" />],
		['By', actor.type === 'user' ? actor.name : <code>{actor.name}</code>],
		['Request', <code>{action}</code>],
		...Object.entries(target).map(([name, id]): [string, ReactNode] => [
			`{${name}}`,
			<Copyable text={id} />,
		]),
		['Status', status],
		['From', ip],
		['With', userAgent],
		['Request id', <Copyable text={requestId} />],
	]
	return facts
}
