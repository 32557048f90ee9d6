import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Page, Stack } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { BulkBar } from './bulk-bar.tsx'
import { BulkProgress } from './bulk-progress.tsx'
import { contactColumns } from './contact-columns.tsx'
import { filterOf } from './contact-filters.ts'
import { ContactsFilters } from './contacts-filters.tsx'
import { useSelection } from './selection.ts'
import { useColumns } from './use-columns.ts'
import { useContacts } from './use-contacts.ts'

export const page = createLazyRoute('/console/$projectId/contacts')({ component: ContactsPage })
const route = getRouteApi('/console/$projectId/contacts')

function ContactsPage() {
	const { project } = useProject()
	const filters = route.useSearch()
	const { list, total, isCounting } = useContacts(filters)
	const columns = useColumns()
	const selection = useSelection(JSON.stringify(filterOf(filters)))
	const isFiltered = Object.keys(filterOf(filters)).length > 0
	const shown = useMemo(() => contactColumns(columns.keys), [columns.keys])
	return (
		<Page title="Contacts" actions={<Adding />}>
			<Stack>
				<ContactsFilters />
				{filters.job && <BulkProgress key={filters.job} jobId={filters.job} />}
				<BulkBar {...{ filters, total, isCounting, selection, columns }} />
				<Table
					name="Contacts"
					{...list}
					columns={shown}
					rowKey={({ email }) => email}
					linkOf={({ id }) => `/console/${project.id}/contacts/${id}`}
					chosen={selection}
					empty={isFiltered ? <NoneFound /> : <None />}
				/>
			</Stack>
		</Page>
	)
}

function Adding() {
	const { project } = useProject()
	const params = { projectId: project.id }
	return (
		<>
			<Link to="/console/$projectId/contacts/import" params={params} className={buttonClass()}>
				Import
			</Link>
			<Link
				to="/console/$projectId/contacts/new"
				params={params}
				className={buttonClass('primary')}
			>
				New contact
			</Link>
		</>
	)
}

const NoneFound = () => (
	<Empty title="No contact matches">
		<p>Remove a filter, or search for another part of the address.</p>
	</Empty>
)

const None = () => (
	<Empty title="No contact yet" action={<Adding />}>
		<p>
			A contact is an address with a subscription and data of your own, such as a name or a plan.
			Import them from a CSV file, add them here, or let your application add them: the page “Start”
			has a request to copy.
		</p>
	</Empty>
)
