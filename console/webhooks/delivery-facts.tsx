import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { WebhookDeliveryDetail } from '../../client/index.ts'
import { Facts } from '../parts/figures.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import { NextTry } from './next-try.tsx'

/** What a delivery is about. */
export function DeliveryFacts({ delivery }: { delivery: WebhookDeliveryDetail }) {
	const { project } = useProject()
	const { endpointId, emailId, contactId } = delivery
	const params = { projectId: project.id, endpointId }
	const facts: [string, ReactNode][] = [
		['Happened', <Time at={delivery.occurredAt} as="date" />],
		['Next try', <NextTry at={delivery.nextTryAt} />],
	]
	if (emailId)
		facts.push([
			'Email',
			<>
				<Link to="/console/$projectId/emails/$emailId" params={{ projectId: project.id, emailId }}>
					Show the mail
				</Link>
				{', '}
				<Link
					to="/console/$projectId/webhooks/$endpointId"
					params={params}
					search={{ email: emailId }}
				>
					all its deliveries
				</Link>
			</>,
		])
	if (contactId)
		facts.push([
			'Contact',
			<>
				<Link to={`/console/${project.id}/contacts/${contactId}` as '/'}>Show the contact</Link>
				{', '}
				<Link
					to="/console/$projectId/webhooks/$endpointId"
					params={params}
					search={{ contact: contactId }}
				>
					all its deliveries
				</Link>
			</>,
		])
	facts.push(['webhook-id', <code>{delivery.webhookId}</code>])
	return <Facts facts={facts} />
}
