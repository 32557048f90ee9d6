import { getRouteApi } from '@tanstack/react-router'
import type { WebhookDelivery, WebhookEndpoint } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { inquiryOf } from './delivery-filters.ts'
import { Filters } from './filters.tsx'
import { NextTry } from './next-try.tsx'
import { outcomeInWords } from './outcome.ts'
import { useContactId } from './use-contact-id.ts'
import { webhooksKey } from './webhook-queries.ts'

const route = getRouteApi('/console/$projectId/webhooks/$endpointId')

const columnsOf = ({ health }: WebhookEndpoint): Column<WebhookDelivery>[] => [
	{ name: 'Event', cell: ({ type }) => type, width: '1.5fr' },
	{ name: 'Status', cell: ({ status }) => <Status status={status} />, width: '100px' },
	{
		name: 'Last try',
		cell: ({ lastAttempt }) => (lastAttempt ? outcomeInWords(lastAttempt) : 'None yet'),
		width: '1.5fr',
	},
	{
		name: 'Tries',
		cell: ({ tries }) => formatCount(tries),
		width: '60px',
		isNumber: true,
		isLeftOutOnPhone: true,
	},
	{
		name: 'Next try',
		cell: ({ nextTryAt }) => <NextTry at={nextTryAt} restingUntil={health.restingUntil} />,
		width: '120px',
		isLeftOutOnPhone: true,
	},
	{ name: 'Time', cell: ({ occurredAt }) => <Time at={occurredAt} />, width: '150px' },
]

/** The deliveries to an endpoint, newest first. */
export function Deliveries({ endpoint }: { endpoint: WebhookEndpoint }) {
	const current = useProject()
	const filters = route.useSearch()
	const { contactId, fault } = useContactId(filters.contact)
	const inquiry = inquiryOf(filters, contactId)
	const { list } = useCursorList({
		key: [...webhooksKey(current), endpoint.id, 'deliveries', inquiry],
		load: (cursor) =>
			current.api.webhookEndpoints.listDeliveries(endpoint.id, { ...inquiry, cursor, limit: 50 }),
		liveMs: liveMs.normal,
	})
	const isFiltered = Object.values(inquiry).some((value) => value !== undefined)
	return (
		<Stack>
			<Filters endpoint={endpoint} contactFault={fault} />
			<Table
				name="Deliveries"
				{...list}
				{...(fault && { rows: [], more: undefined })}
				columns={columnsOf(endpoint)}
				rowKey={({ id }) => id}
				linkOf={({ id }) =>
					`/console/${current.project.id}/webhooks/${endpoint.id}/deliveries/${id}`
				}
				empty={
					isFiltered || fault ? (
						<Empty title="No delivery is like that">
							<p>Deliveries are kept for 30 days.</p>
						</Empty>
					) : (
						<Empty title="No delivery yet">
							<p>
								Each event that the endpoint gets appears here, with all tries. Send a test to see
								whether the endpoint answers.
							</p>
						</Empty>
					)
				}
			/>
		</Stack>
	)
}
