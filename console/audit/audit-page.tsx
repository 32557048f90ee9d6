import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { AuditEntry } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { membersKey } from '../members/roles.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { counted, mostCounted } from '../parts/counted.ts'
import { Empty } from '../parts/empty.tsx'
import { DayFilter, Filter } from '../parts/filter.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { actionInWords } from './action-words.ts'
import { type AuditFilters, inquiryOf } from './audit-filters.ts'
import { EntryDialog } from './entry-dialog.tsx'

export const page = createLazyRoute('/console/$projectId/settings/audit')({ component: AuditPage })
const route = getRouteApi('/console/$projectId/settings/audit')

function AuditPage() {
	const { project, api } = useProject()
	const filters = route.useSearch()
	const inquiry = inquiryOf(filters)
	const { list, total } = useCursorList({
		key: [project.id, 'audit', inquiry],
		load: (cursor) => api.projects.listAuditEntries(project.id, { ...inquiry, cursor, limit: 50 }),
		liveMs: liveMs.slow,
	})
	const [open, setOpen] = useState<AuditEntry | null>(null)
	const isFiltered = Object.values(filters).some((value) => value !== undefined)
	return (
		<Stack>
			<p>
				Every request that changed something is kept for 400 days, without its body. Sending and
				tracking are not in it: they are in the ledger and among the events.
			</p>
			<Filters total={total} />
			<Table
				name="Changes"
				{...list}
				columns={columnsWith(setOpen)}
				rowKey={({ id }) => id}
				empty={isFiltered ? <NoneFound /> : <None />}
			/>
			<EntryDialog entry={open} onClose={() => setOpen(null)} />
		</Stack>
	)
}

const columnsWith = (open: (entry: AuditEntry) => void): Column<AuditEntry>[] => [
	{ name: 'Change', width: '1.6fr', cell: ({ action }) => actionInWords(action) },
	{ name: 'By', width: '1.6fr', cell: ({ actor }) => <Actor {...actor} /> },
	{
		name: 'Request',
		width: '2fr',
		isLeftOutOnPhone: true,
		cell: ({ action }) => <code title={action}>{action}</code>,
	},
	{ name: 'Time', width: '180px', cell: ({ createdAt }) => <Time at={createdAt} /> },
	{
		name: 'Details',
		width: '90px',
		cell: (entry) => (
			<Button
				kind="quiet"
				aria-label={`Details of ${actionInWords(entry.action)}`}
				onClick={() => open(entry)}
			>
				Details
			</Button>
		),
	},
]

const Actor = ({ type, name }: AuditEntry['actor']) =>
	type === 'user' ? (
		name
	) : (
		<>
			<code>{name}</code> <Badge>Secret key</Badge>
		</>
	)

function Filters({ total }: { total: number | undefined }) {
	const { project, api } = useProject()
	const filters = route.useSearch()
	const navigate = route.useNavigate()
	const { data: members = [] } = useQuery({
		queryKey: membersKey(project.id),
		queryFn: () => api.projects.listMembers(project.id),
	})
	const set = (changed: AuditFilters) =>
		void navigate({ search: (old) => ({ ...old, ...changed }), replace: true })
	return (
		<Row>
			<Filter
				name="By"
				all="Anyone"
				value={filters.who}
				options={[
					{ value: 'people', name: 'People' },
					{ value: 'keys', name: 'Secret keys' },
					...members.map(({ userId, email }) => ({ value: userId, name: email })),
				]}
				onChange={(who) => set({ who })}
			/>
			<DayFilter name="Since" value={filters.from} onChange={(from) => set({ from })} />
			<DayFilter name="Until" value={filters.to} onChange={(to) => set({ to })} />
			{total !== undefined && (
				<Soft>
					{total < mostCounted ? counted(total, 'change') : `${counted(total, 'change')} or more`}
				</Soft>
			)}
		</Row>
	)
}

const NoneFound = () => (
	<Empty title="No change is like that">
		<p>Choose other days, or anyone.</p>
	</Empty>
)

const None = () => (
	<Empty title="No change yet">
		<p>Whatever members or keys change in this project is recorded here.</p>
	</Empty>
)
