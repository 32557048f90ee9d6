import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import type { Email } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Badge, inWords, Status } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { Filter } from '../parts/filter.tsx'
import { Page, Row, Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { sources, statuses } from './email-filters.ts'

export const page = createLazyRoute('/console/$projectId/emails')({ component: EmailsPage })
const route = getRouteApi('/console/$projectId/emails')

const columns: Column<Email>[] = [
	{ name: 'To', cell: ({ to, toName }) => (toName ? `${toName} <${to}>` : to), width: '1.4fr' },
	{ name: 'Subject', cell: ({ subject }) => subject, width: '2fr' },
	{ name: 'Status', cell: ({ status }) => <Status status={status} />, width: '110px' },
	{
		name: 'Source',
		cell: ({ sourceType }) => inWords(sourceType),
		width: '110px',
		isLeftOutOnPhone: true,
	},
	{ name: 'Time', cell: (mail) => <Time at={timeOf(mail)} />, width: '150px' },
]

const timeOf = ({ scheduledFor, sentAt, createdAt, status }: Email) =>
	status === 'SCHEDULED' ? scheduledFor : (sentAt ?? createdAt)

function EmailsPage() {
	const { project, api } = useProject()
	const { status, source, contact, campaign } = route.useSearch()
	const navigate = route.useNavigate()
	const filters = { status, sourceType: source, contactId: contact, campaignId: campaign }
	const { list } = useCursorList({
		key: [project.id, 'emails', filters],
		load: (cursor) => api.emails.list({ ...filters, cursor, limit: 50 }),
		liveMs: liveMs.normal,
	})
	const isFiltered = Object.values(filters).some((value) => value !== undefined)
	return (
		<Page title="Emails">
			<Stack>
				<Row>
					<Filter
						name="Status"
						all="Any status"
						value={status}
						options={statuses.map((value) => ({ value, name: inWords(value) }))}
						onChange={(value) =>
							void navigate({ search: (old) => ({ ...old, status: value as Email['status'] }) })
						}
					/>
					<Filter
						name="Source"
						all="Any source"
						value={source}
						options={sources}
						onChange={(value) =>
							void navigate({ search: (old) => ({ ...old, source: value as Email['sourceType'] }) })
						}
					/>
					{contact && <Badge>of one contact</Badge>}
					{campaign && <Badge>of one campaign</Badge>}
				</Row>
				<Table
					name="Emails"
					{...list}
					columns={columns}
					rowKey={({ id }) => id}
					linkOf={({ id }) => `/console/${project.id}/emails/${id}`}
					empty={isFiltered ? <NoneFound /> : <None />}
				/>
			</Stack>
		</Page>
	)
}

const NoneFound = () => (
	<Empty title="No mail is like that">
		<p>Other filters may show some.</p>
	</Empty>
)

const None = () => (
	<Empty title="No mail yet">
		<p>
			Every mail that you send or receive is kept here, with all that happened to it. The page
			“Start” has a first mail to copy.
		</p>
	</Empty>
)
