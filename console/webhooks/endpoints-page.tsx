import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import type { WebhookEndpoint } from '../../client/index.ts'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Page, Soft } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { EndpointState, waitingOf } from './endpoint-state.tsx'
import { eventsInWords } from './event-types.ts'
import { endpointsQuery } from './webhook-queries.ts'

export const page = createLazyRoute('/console/$projectId/webhooks')({ component: EndpointsPage })

const columns: Column<WebhookEndpoint>[] = [
	{ name: 'Endpoint', cell: (endpoint) => <Name {...endpoint} />, width: '2fr' },
	{ name: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} />, width: '90px' },
	{ name: 'Events', cell: ({ events }) => eventsInWords(events), isLeftOutOnPhone: true },
	{
		name: 'Last success',
		cell: ({ health }) => <Time at={health.lastSuccessAt} />,
		width: '140px',
		isLeftOutOnPhone: true,
	},
	{
		name: 'Failures in a row',
		cell: ({ health }) => formatCount(health.failuresInRow),
		width: '110px',
		isNumber: true,
	},
	{
		name: 'Waiting',
		cell: (endpoint) => waitingOf(endpoint),
		width: '90px',
		isNumber: true,
	},
]

const Name = ({ url, description }: WebhookEndpoint) =>
	description ? (
		<>
			{description} <Soft>{url}</Soft>
		</>
	) : (
		url
	)

function EndpointsPage() {
	const current = useProject()
	const { project } = current
	const { data, error, refetch } = useQuery(endpointsQuery(current))
	const add = mayAct(project, 'ADMIN') ? (
		<Link
			to="/console/$projectId/webhooks/new"
			params={{ projectId: project.id }}
			className={buttonClass('primary')}
		>
			New endpoint
		</Link>
	) : (
		<Soft>Only admins and the owner add endpoints.</Soft>
	)
	return (
		<Page title="Webhooks" actions={data && data.length > 0 && add}>
			<Table
				name="Webhook endpoints"
				columns={columns}
				rows={data}
				error={error}
				retry={() => void refetch()}
				rowKey={({ id }) => id}
				linkOf={({ id }) => `/console/${project.id}/webhooks/${id}`}
				empty={
					<Empty title="No endpoint yet" action={add}>
						<p>
							A webhook tells your application what happened: a mail bounced, a contact
							unsubscribed, a workflow ended. Give Tempost an address, and each event is sent to it
							within a second. An event that is not accepted is sent again, for more than a day.
						</p>
					</Empty>
				}
			/>
		</Page>
	)
}
