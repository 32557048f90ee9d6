import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MailboxMail } from '../../client/index.ts'
import { Facts } from '../parts/figures.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'

/** The people of a mail, its files, and its way to the ledger. */
export const MessageFacts = ({ mail }: { mail: MailboxMail }) => {
	const facts: [string, ReactNode][] = [
		['From', mail.headers['From'] ?? mail.from],
		['To', mail.headers['To'] ?? mail.to],
	]
	if (mail.headers['Cc']) facts.push(['Cc', mail.headers['Cc']])
	if (mail.bcc.length > 0) facts.push(['Bcc', mail.bcc.join(', ')])
	facts.push(['Received', <Time at={mail.receivedAt} as="date" />])
	if (mail.attachments.length > 0) facts.push(['Attachments', <Attachments mail={mail} />])
	facts.push(['In the ledger', <InLedger emailId={mail.emailId} />])
	return <Facts facts={facts} />
}

const Attachments = ({ mail: { id, attachments } }: { mail: MailboxMail }) => (
	<ul aria-label="Attachments">
		{attachments.map(({ filename, contentType, size }, position) => (
			<li key={`${position} ${filename}`}>
				<a href={`/mailbox/messages/${id}/attachments/${position}`} download={filename}>
					{filename}
				</a>{' '}
				({contentType}, {sizeOf(size)})
			</li>
		))}
	</ul>
)

/** The mailbox has the mail of every project, and mail of our own: the ledger of this one may not know it. */
function InLedger({ emailId }: { emailId: string }) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'emails', emailId, 'known'],
		queryFn: () => api.emails.list({ search: emailId, limit: 1, bodies: false }),
		staleTime: Infinity,
	})
	const isKnown = data && data.data.length > 0
	return (
		<>
			{isKnown ? (
				<Link to="/console/$projectId/emails/$emailId" params={{ projectId: project.id, emailId }}>
					All that happened to it
				</Link>
			) : (
				'Not of this project'
			)}{' '}
			<code>{emailId}</code>
		</>
	)
}

function sizeOf(bytes: number) {
	if (bytes < 1024) return `${bytes} B`
	if (bytes < 2 ** 20) return `${(bytes / 1024).toFixed(1)} KB`
	return `${(bytes / 2 ** 20).toFixed(1)} MB`
}
