import { useCallback } from 'react'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { Email } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords, Status } from '../parts/badge.tsx'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { DayFilter, Filter } from '../parts/filter.tsx'
import { Page, Row, Soft, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { type EmailFilters, inquiryOf, sources, statuses } from './email-filters.ts'
import { Narrowing } from './narrowing.tsx'

export const page = createLazyRoute('/console/$projectId/emails')({ component: EmailsPage })
const route = getRouteApi('/console/$projectId/emails')

const columns: Column<Email>[] = [
	{ name: 'To', cell: (mail) => <Recipient {...mail} />, width: '1.6fr' },
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

const Recipient = ({ to, toName }: Email) =>
	toName ? (
		<>
			{toName} <Soft>{to}</Soft>
		</>
	) : (
		to
	)

const timeOf = ({ scheduledFor, sentAt, createdAt, status }: Email) =>
	status === 'SCHEDULED' ? scheduledFor : (sentAt ?? createdAt)

function EmailsPage() {
	const { project, api } = useProject()
	const filters = route.useSearch()
	const inquiry = inquiryOf(filters)
	const { list } = useCursorList({
		key: [project.id, 'emails', inquiry],
		load: (cursor) => api.emails.list({ ...inquiry, cursor, limit: 50, bodies: false }),
		liveMs: liveMs.normal,
	})
	const isFiltered = Object.values(filters).some((value) => value !== undefined)
	return (
		<Page title="Emails">
			<Stack>
				<Filters />
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

function Filters() {
	const filters = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: EmailFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const search = useCallback((text: string) => set({ search: text || undefined }), [set])
	return (
		<Row>
			<SearchBox name="Address, subject or id" value={filters.search ?? ''} onChange={search} />
			<Filter
				name="Status"
				all="Any status"
				value={filters.status}
				options={statuses.map((value) => ({ value, name: inWords(value) }))}
				onChange={(value) => set({ status: statuses.find((one) => one === value) })}
			/>
			<Filter
				name="Source"
				all="Any source"
				value={filters.source}
				options={sources}
				onChange={(value) => set({ source: sources.find((one) => one.value === value)?.value })}
			/>
			<DayFilter name="Since" value={filters.from} onChange={(from) => set({ from })} />
			<DayFilter name="Until" value={filters.to} onChange={(to) => set({ to })} />
			<Narrowing filters={filters} set={set} />
		</Row>
	)
}

const NoneFound = () => (
	<Empty title="No mail is like that">
		<p>
			Words are looked for in the subjects of the newest 20,000 mails, or of those in the chosen
			days. An address finds all mail to it.
		</p>
	</Empty>
)

function None() {
	const { project } = useProject()
	return (
		<Empty
			title="No mail yet"
			action={
				<Link
					to="/console/$projectId"
					params={{ projectId: project.id }}
					className={buttonClass('primary')}
				>
					Send a first mail
				</Link>
			}
		>
			<p>Every mail that you send or receive is kept here, with all that happened to it.</p>
		</Empty>
	)
}
