import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useCallback } from 'react'
import type { Campaign } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords } from '../parts/badge.tsx'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Filter } from '../parts/filter.tsx'
import { Page, Row, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/table.tsx'
import { usePagedList } from '../parts/use-paged-list.ts'
import { useProject } from '../shell/projects.ts'
import { columns } from './campaign-columns.tsx'
import { type CampaignFilters, statuses } from './campaign-filters.ts'

export const page = createLazyRoute('/console/$projectId/campaigns')({ component: CampaignsPage })
const route = getRouteApi('/console/$projectId/campaigns')

const isMoving = ({ status }: Campaign) => status === 'SENDING' || status === 'SCHEDULED'

function CampaignsPage() {
	const { project, api } = useProject()
	const { search, status } = route.useSearch()
	const { list } = usePagedList({
		key: [project.id, 'campaigns', 'list', search, status],
		load: (number) => api.campaigns.list({ page: number, pageSize: 25, search, status }),
		// The answer has the bodies. Rows that are being sent ask for their progress themselves.
		liveMs: (rows) => rows.some(isMoving) && liveMs.slow,
	})
	return (
		<Page title="Campaigns" actions={<NewCampaign />}>
			<Stack>
				<Filters />
				<Table
					name="Campaigns"
					{...list}
					columns={columns}
					rowKey={({ id }) => id}
					linkOf={({ id }) => `/console/${project.id}/campaigns/${id}`}
					empty={search || status ? <NoneFound /> : <None />}
				/>
			</Stack>
		</Page>
	)
}

function NewCampaign() {
	const { project } = useProject()
	return (
		<Link
			to="/console/$projectId/campaigns/new"
			params={{ projectId: project.id }}
			className={buttonClass('primary')}
		>
			<Plus size={15} aria-hidden />
			New campaign
		</Link>
	)
}

function Filters() {
	const { search, status } = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: CampaignFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const find = useCallback((text: string) => set({ search: text || undefined }), [set])
	return (
		<Row>
			<SearchBox name="Name, subject or sender" value={search ?? ''} onChange={find} />
			<Filter
				name="Status"
				all="Any status"
				value={status}
				options={statuses.map((value) => ({ value, name: inWords(value) }))}
				onChange={(value) => set({ status: statuses.find((one) => one === value) })}
			/>
		</Row>
	)
}

const NoneFound = () => (
	<Empty title="No campaign is like that">
		<p>The search looks at names, subjects and senders. Try fewer letters, or any status.</p>
	</Empty>
)

const None = () => (
	<Empty title="No campaigns yet" action={<NewCampaign />}>
		<p>
			A campaign is one mail to many contacts: to all of them, to a segment, or to those that meet a
			condition. It begins as a draft, and nothing is sent before you say so.
		</p>
	</Empty>
)
