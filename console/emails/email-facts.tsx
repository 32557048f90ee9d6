import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { EmailWithAttempts } from '../../client/index.ts'
import { Copyable } from '../parts/copy.tsx'
import { Facts } from '../parts/figures.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import { EmailSource } from './email-source.tsx'

type Fact = [name: string, value: ReactNode]

/** The parties of a mail, where it comes from, and the pages about them. */
export function EmailFacts({ mail }: { mail: EmailWithAttempts }) {
	const copies = [...mail.cc, ...mail.bcc].map(({ email }) => email)
	const facts: Fact[] = [
		['To', mail.toName ? `${mail.toName} <${mail.to}>` : mail.to],
		...only('Copies', copies.join(', ')),
		['From', mail.fromName ? `${mail.fromName} <${mail.from}>` : mail.from],
		...only('Replies go to', mail.replyTo),
		['Source', mail.sourceType === 'INBOUND' ? 'Received' : <EmailSource mail={mail} />],
		...only('Tags', mail.tags.map(({ name, value }) => `${name}: ${value}`).join(', ')),
		['Created', <Time at={mail.createdAt} as="date" />],
		['Opens, clicks', `${mail.opens}, ${mail.clicks}`],
		['Contact', <ContactOf mail={mail} />],
		['Id', <Copyable text={mail.id} name="Copy the id" />],
	]
	return <Facts facts={facts} />
}

const only = (name: string, value: string | null): Fact[] => (value ? [[name, value]] : [])

function ContactOf({ mail: { contactId } }: { mail: EmailWithAttempts }) {
	const { project } = useProject()
	const params = { projectId: project.id }
	// A test mail never had one.
	if (!contactId) return 'None, or deleted'
	return (
		<>
			<Link to="/console/$projectId/contacts/$contactId" params={{ ...params, contactId }}>
				Show the contact
			</Link>
			{' · '}
			<Link to="/console/$projectId/emails" params={params} search={{ contact: contactId }}>
				All mail to this person
			</Link>
		</>
	)
}
