import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Segment } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { useSegmentNames } from '../conditions/condition-fields.ts'
import { sentenceOf } from '../conditions/condition-words.ts'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Filter } from '../parts/filter.tsx'
import { Page, Row, Soft, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { kinds, type SegmentFilters } from './segment-filters.ts'
import { Freshness, SegmentKind } from './segment-kind.tsx'
import { segmentsQuery } from './segments-query.ts'

export const page = createLazyRoute('/console/$projectId/segments')({ component: SegmentsPage })
const route = getRouteApi('/console/$projectId/segments')

const columns: Column<Segment>[] = [
	{ name: 'Name', cell: ({ name }) => name, width: '1.2fr' },
	{ name: 'Contains', cell: (segment) => <About {...segment} />, width: '2fr' },
	{ name: 'Kind', cell: (segment) => <SegmentKind {...segment} />, width: '120px' },
	{
		name: 'Counted',
		cell: (segment) => <Freshness segment={segment} />,
		width: '180px',
		isLeftOutOnPhone: true,
	},
	{
		name: 'Contacts',
		cell: ({ memberCount }) => formatCount(memberCount),
		width: '100px',
		isNumber: true,
	},
]

function About({ condition, description }: Segment) {
	const names = useSegmentNames()
	const text = description ?? (condition ? sentenceOf(condition, names) : '')
	return <Soft>{text}</Soft>
}

function SegmentsPage() {
	const current = useProject()
	const { project } = current
	const { search = '', kind } = route.useSearch()
	const { data, error, refetch } = useQuery({
		...segmentsQuery(current),
		staleTime: 0,
		refetchInterval: liveMs.slow,
	})
	const wanted = search.toLowerCase()
	const rows = data?.filter(
		({ name, type }) =>
			name.toLowerCase().includes(wanted) && (kind === undefined || type === kind),
	)
	return (
		<Page title="Segments" actions={<NewSegment isMain />}>
			<Stack>
				<Filters />
				<Table
					name="Segments"
					rows={rows}
					error={error}
					retry={() => void refetch()}
					columns={columns}
					rowKey={({ id }) => id}
					linkOf={({ id }) => `/console/${project.id}/segments/${id}`}
					empty={data?.length === 0 ? <None /> : <Empty title="No segment is called that" />}
				/>
			</Stack>
		</Page>
	)
}

function NewSegment({ isMain = false }: { isMain?: boolean }) {
	const { project } = useProject()
	return (
		<Link
			to="/console/$projectId/segments/new"
			params={{ projectId: project.id }}
			className={buttonClass(isMain ? 'primary' : 'plain')}
		>
			New segment
		</Link>
	)
}

function Filters() {
	const { search = '', kind } = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: SegmentFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const find = useCallback((text: string) => set({ search: text || undefined }), [set])
	return (
		<Row>
			<SearchBox name="Name" value={search} onChange={find} />
			<Filter
				name="Kind"
				all="Any kind"
				value={kind}
				options={kinds}
				onChange={(value) => set({ kind: kinds.find((one) => one.value === value)?.value })}
			/>
		</Row>
	)
}

const None = () => (
	<Empty title="No segment yet" action={<NewSegment />}>
		<p>
			A segment is a group of contacts. You choose them by a condition, such as “plan is pro”, or
			one by one. Campaigns and workflows can be for a segment.
		</p>
	</Empty>
)
