import { getRouteApi } from '@tanstack/react-router'
import type { Contact } from '../../client/index.ts'
import { Tabs } from '../parts/tabs.tsx'
import { EventsOf } from './events-of.tsx'
import { EverythingOf } from './everything-of.tsx'
import { ExecutionsOf } from './executions-of.tsx'
import { historyTabs } from './history-tabs.ts'
import { MailsOf } from './mails-of.tsx'

const route = getRouteApi('/console/$projectId/contacts/$contactId')

/** All that happened to one person, or one kind of it in detail. */
export function ContactHistory({ contact }: { contact: Contact }) {
	const { show = 'everything' } = route.useSearch()
	const navigate = route.useNavigate()
	return (
		<section aria-label="History">
			<Tabs
				value={show}
				onChange={(id) => {
					const tab = historyTabs.find((one) => one === id)
					void navigate({ search: { show: tab === 'everything' ? undefined : tab }, replace: true })
				}}
				tabs={[
					{ id: 'everything', name: 'Everything', content: <EverythingOf contact={contact} /> },
					{ id: 'mails', name: 'Mails', content: <MailsOf contact={contact} /> },
					{ id: 'events', name: 'Events', content: <EventsOf contact={contact} /> },
					{ id: 'workflows', name: 'Workflows', content: <ExecutionsOf contact={contact} /> },
				]}
			/>
		</section>
	)
}
