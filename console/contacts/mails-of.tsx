import { Link } from '@tanstack/react-router'
import type { Contact, Email } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords, Status } from '../parts/badge.tsx'
import type { Moment } from '../parts/timeline.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { History } from './history.tsx'

/** Every mail to one person, those that wait or were held back included. */
export function MailsOf({ contact }: { contact: Contact }) {
	const { project, api } = useProject()
	const { list } = useCursorList({
		key: [project.id, 'emails', { contactId: contact.id }],
		load: (cursor) =>
			api.emails.list({
				contactId: contact.id,
				limit: 50,
				bodies: false,
				...(cursor && { cursor }),
			}),
		liveMs: liveMs.normal,
	})
	const momentOf = ({ id, subject, status, sourceType, createdAt }: Email): Moment => ({
		at: createdAt,
		title: (
			<Link
				to="/console/$projectId/emails/$emailId"
				params={{ projectId: project.id, emailId: id }}
			>
				{subject || '(no subject)'}
			</Link>
		),
		detail: (
			<>
				<Status status={status} /> {inWords(sourceType)}
			</>
		),
	})
	return <History {...list} moments={list.rows?.map(momentOf)} none="No mail to this person yet." />
}
