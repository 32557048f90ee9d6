import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Suppression } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Filter } from '../parts/filter.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useAct } from '../parts/use-act.ts'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { NewSuppression } from './new-suppression.tsx'
import { reasons, type SuppressionFilters } from './suppression-filters.ts'

export const page = createLazyRoute('/console/$projectId/settings/suppressions')({
	component: SuppressionsPage,
})
const route = getRouteApi('/console/$projectId/settings/suppressions')

function SuppressionsPage() {
	const { project, api } = useProject()
	const filters = route.useSearch()
	const { list, total } = useCursorList({
		key: [project.id, 'suppressions', filters],
		load: (cursor) => api.suppressions.list({ ...filters, cursor, limit: 50 }),
		liveMs: liveMs.slow,
	})
	const { columns, error } = useColumns()
	const isFiltered = filters.search !== undefined || filters.reason !== undefined
	return (
		<Stack>
			<p>
				These addresses get no mail of any kind from this project. Addresses that bounce for good,
				or whose readers report spam, are added by themselves.
			</p>
			<Filters total={total} />
			<Fault error={error} />
			<Table
				name="Suppressed addresses"
				{...list}
				columns={columns}
				rowKey={({ email }) => email}
				empty={isFiltered ? <NoneFound /> : <None />}
			/>
		</Stack>
	)
}

function Filters({ total }: { total: number | undefined }) {
	const filters = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: SuppressionFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const search = useCallback((text: string) => set({ search: text || undefined }), [set])
	return (
		<Row>
			<SearchBox name="Part of the address" value={filters.search ?? ''} onChange={search} />
			<Filter
				name="Reason"
				all="Any reason"
				value={filters.reason}
				options={reasons}
				onChange={(chosen) => set({ reason: reasons.find(({ value }) => value === chosen)?.value })}
			/>
			<NewSuppression />
			{total !== undefined && (
				<Soft>
					{formatCount(total)} {total === 1 ? 'address' : 'addresses'}
				</Soft>
			)}
		</Row>
	)
}

function useColumns() {
	const { project, api } = useProject()
	const { run, error } = useAct([project.id, 'suppressions'])
	const remove = ({ email, reason }: Suppression) =>
		run({
			question: {
				title: `Take ${email} off the list?`,
				body: 'The address gets mail again. If it still bounces, it returns to the list, and the bounce counts against your reputation.',
				act: 'Take it off the list',
				isDestructive: true,
			},
			act: () => api.suppressions.delete(email),
			said: `${email} gets mail again`,
			undo: {
				act: () => api.suppressions.create({ email, reason }),
				said: `${email} gets no mail`,
			},
		})
	const columns: Column<Suppression>[] = [
		{ name: 'Email address', width: '2fr', cell: ({ email }) => email },
		{ name: 'Reason', width: '160px', cell: ({ reason }) => <Reason reason={reason} /> },
		{
			name: 'Mail',
			width: '110px',
			cell: ({ emailId }) =>
				emailId && (
					<Link
						to="/console/$projectId/emails/$emailId"
						params={{ projectId: project.id, emailId }}
					>
						Show the mail
					</Link>
				),
		},
		{ name: 'Since', width: '180px', cell: ({ createdAt }) => <Time at={createdAt} /> },
		{
			name: 'Actions',
			width: '100px',
			cell: (one) => (
				<Button aria-label={`Remove ${one.email}`} onClick={() => remove(one)}>
					Remove
				</Button>
			),
		},
	]
	return { columns, error }
}

function Reason({ reason }: Pick<Suppression, 'reason'>) {
	const { name, tone } = reasons.find(({ value }) => value === reason)!
	return <Badge tone={tone}>{name}</Badge>
}

const NoneFound = () => (
	<Empty title="No address is like that">
		<p>It gets mail, as far as this list is concerned.</p>
	</Empty>
)

const None = () => (
	<Empty title="No address is suppressed">
		<p>
			Add an address that must get no mail from this project, whatever your application asks for.
		</p>
	</Empty>
)
