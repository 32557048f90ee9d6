import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import type { Contact } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Copyable } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { Facts } from '../parts/figures.tsx'
import { Columns, Page, Row, Section } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { ContactActs } from './contact-acts.tsx'
import { ContactData } from './contact-data.tsx'
import { ContactHistory } from './contact-history.tsx'
import { ToContacts } from './contact-links.tsx'
import { useIsDeleting } from '../parts/deletion.ts'
import { Subscribed } from './subscribed.tsx'

export const page = createLazyRoute('/console/$projectId/contacts/$contactId')({
	component: ContactPage,
})
const route = getRouteApi('/console/$projectId/contacts/$contactId')

function ContactPage() {
	const { contactId } = route.useParams()
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'contacts', contactId],
		queryFn: () => api.contacts.get(contactId),
		refetchInterval: useIsDeleting(contactId) ? false : liveMs.slow,
	})
	if (!data)
		return (
			<Page title="Contact" back={<ToContacts />}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return (
		<Page
			title={data.email}
			back={<ToContacts />}
			about={<Subscribed {...data} />}
			actions={<ContactActs contact={data} />}
		>
			<Columns>
				<div>
					<ContactFacts contact={data} />
					<ContactData key={data.id} contact={data} />
					<PublicPages contact={data} />
				</div>
				<ContactHistory contact={data} />
			</Columns>
		</Page>
	)
}

const ContactFacts = ({ contact: { id, createdAt, updatedAt } }: { contact: Contact }) => (
	<Facts
		facts={[
			['Created', <Time at={createdAt} as="date" />],
			['Changed', <Time at={updatedAt} as="date" />],
			['Id', <Copyable text={id} />],
		]}
	/>
)

const pages = [
	{ path: 'manage', name: 'Choose mails' },
	{ path: 'unsubscribe', name: 'Unsubscribe' },
	{ path: 'subscribe', name: 'Subscribe' },
]

/** The pages that mails to this person link to. */
const PublicPages = ({ contact }: { contact: Contact }) => (
	<Section title="Pages for this person">
		<Row>
			{pages.map(({ path, name }) => (
				<a key={path} href={`/${path}/${contact.id}`} target="_blank" rel="noopener noreferrer">
					{name}
				</a>
			))}
		</Row>
	</Section>
)
