import { getRouteApi } from '@tanstack/react-router'
import type { Campaign, CampaignRecipient } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords, Status } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { Filter } from '../parts/filter.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { recipientStatuses } from './campaign-filters.ts'

const route = getRouteApi('/console/$projectId/campaigns/$campaignId')

const columns: Column<CampaignRecipient>[] = [
	{ name: 'Address', cell: ({ email }) => email, width: '1.4fr' },
	{ name: 'Status', cell: ({ status }) => <Status status={status} />, width: '120px' },
	{
		name: 'Reason',
		cell: ({ error }) => (error ? <span title={error}>{error}</span> : null),
		width: '2fr',
	},
	{ name: 'Latest', cell: (recipient) => <Time at={lastOf(recipient)} />, width: '150px' },
]

/** The latest that is known of a mail. */
const lastOf = (one: CampaignRecipient) =>
	[
		one.sentAt,
		one.deliveredAt,
		one.openedAt,
		one.clickedAt,
		one.bouncedAt,
		one.complainedAt,
		one.unsubscribedAt,
	].reduce((last, at) => (at && (!last || at > last) ? at : last), null)

/** The recipients and what became of their mails; each leads to its mail. */
export function CampaignRecipients({ campaign }: { campaign: Campaign }) {
	const { project, api } = useProject()
	const { status } = route.useSearch()
	const navigate = route.useNavigate()
	const { list, total } = useCursorList({
		key: [project.id, 'campaigns', 'recipients', campaign.id, status],
		load: (cursor) => api.campaigns.listRecipients(campaign.id, { status, cursor, limit: 50 }),
		...(campaign.status === 'SENDING' && { liveMs: liveMs.normal }),
	})
	return (
		<Stack>
			<Row>
				<Filter
					name="Status"
					all="Any status"
					value={status}
					options={recipientStatuses.map((value) => ({ value, name: inWords(value) }))}
					onChange={(value) =>
						void navigate({
							search: (old) => ({
								...old,
								status: recipientStatuses.find((one) => one === value),
							}),
							replace: true,
						})
					}
				/>
				{total !== undefined && (
					<Soft>
						{formatCount(total)} {total === 1 ? 'recipient' : 'recipients'}
					</Soft>
				)}
			</Row>
			<Table
				name="Recipients"
				{...list}
				columns={columns}
				rowKey={({ email, emailId, contactId }) => emailId ?? contactId ?? email}
				linkOf={({ emailId }) => (emailId ? `/console/${project.id}/emails/${emailId}` : undefined)}
				empty={
					<None isFiltered={status !== undefined} isCancelled={campaign.status === 'CANCELLED'} />
				}
			/>
		</Stack>
	)
}

const None = ({ isFiltered, isCancelled }: { isFiltered: boolean; isCancelled: boolean }) =>
	isFiltered ? (
		<Empty title="No recipient has this status" />
	) : (
		<Empty title="No recipients">
			<p>
				{isCancelled
					? 'It was cancelled before anybody was to get it.'
					: 'Nobody in the audience could get this campaign when it started.'}
			</p>
		</Empty>
	)
