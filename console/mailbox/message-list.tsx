import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import type { MailboxSummary } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { listKeys } from '../parts/list-keys.ts'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './mailbox.module.css'
import type { useMessages } from './messages.ts'
import { useDeletion } from './use-deletion.ts'
import { useMailKeys } from './use-mail-keys.ts'

interface Props extends ReturnType<typeof useMessages> {
	openId: string | undefined
	search: string | undefined
}

export function MessageList({
	messages,
	error,
	retry,
	older,
	isLoadingOlder,
	openId,
	search,
}: Props) {
	const list = useRef<HTMLUListElement>(null)
	const { remove, error: fault } = useDeletion(openId)
	useMailKeys(list, (place, refocus) => {
		const message = messages?.[place]
		if (message) remove(message, refocus)
	})
	if (!messages) return error ? <Fault error={error} retry={retry} /> : <Waiting />
	if (messages.length === 0) return search ? <NoneFound /> : <None />
	return (
		<>
			{error ? <Fault error={error} retry={retry} /> : null}
			<Fault error={fault} />
			<ul ref={list} className={styles.list} aria-label="Mails" {...listKeys}>
				{messages.map((message) => (
					<Item key={message.id} {...message} search={search} />
				))}
			</ul>
			{older && (
				<Button onClick={older} isBusy={isLoadingOlder}>
					Older mail
				</Button>
			)}
		</>
	)
}

type ItemProps = MailboxSummary & { search: string | undefined }

function Item({ id, subject, from, to, receivedAt, read, search }: ItemProps) {
	const { project } = useProject()
	return (
		<li data-unread={!read}>
			<Link
				to="/console/$projectId/mailbox/$messageId"
				params={{ projectId: project.id, messageId: id }}
				search={{ search }}
				resetScroll={false}
			>
				{!read && <span className="unseen">Unread. </span>}
				<strong dir="auto">{subject || '(no subject)'}</strong>
				<Time at={receivedAt} />
				<span className={styles.people}>
					{from} <small>to</small> {to}
				</span>
			</Link>
		</li>
	)
}

const NoneFound = () => (
	<Empty title="No mail matches">
		<p>Part of an address or of a subject is looked for, in all mail of this mailbox.</p>
	</Empty>
)

const None = () => (
	<Empty title="No mail yet">
		<p>
			Mail that would be sent arrives here instead, and never leaves this machine. Send one: the
			page “Start” has a first mail to copy.
		</p>
	</Empty>
)
