import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { WebhookEndpoint } from '../../client/index.ts'
import { Fault } from '../parts/fault.tsx'
import { Facts, formatCount } from '../parts/figures.tsx'
import { Card, Page, Section, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { Deliveries } from './deliveries.tsx'
import { EndpointActs } from './endpoint-acts.tsx'
import { adviceOf, EndpointState, waitingOf } from './endpoint-state.tsx'
import { eventsInWords } from './event-types.ts'
import { ReplayProgress } from './replay-progress.tsx'
import { endpointQuery } from './webhook-queries.ts'

export const page = createLazyRoute('/console/$projectId/webhooks/$endpointId')({
	component: EndpointPage,
})
const route = getRouteApi('/console/$projectId/webhooks/$endpointId')

function EndpointPage() {
	const { endpointId } = route.useParams()
	const search = route.useSearch()
	const navigate = route.useNavigate()
	const current = useProject()
	const { data: endpoint, error, refetch } = useQuery(endpointQuery(current, endpointId))
	const showReplay = (jobId: string | undefined) =>
		void navigate({ search: (old) => ({ ...old, replay: jobId }), replace: true })
	const last = useLastReplay(endpointId, endpoint?.replayJobId ?? null)
	const back = (
		<Link to="/console/$projectId/webhooks" params={{ projectId: current.project.id }}>
			Webhooks
		</Link>
	)
	if (!endpoint)
		return (
			<Page title="Webhook endpoint" back={back}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	const advice = adviceOf(endpoint)
	const replay = search.replay ?? last.jobId
	return (
		<Page
			title={endpoint.description || new URL(endpoint.url).host}
			back={back}
			about={<EndpointState endpoint={endpoint} />}
			actions={<EndpointActs endpoint={endpoint} onReplay={showReplay} />}
		>
			<Stack>
				<Fault error={error} />
				{advice && (
					<Card>
						<p>{advice}</p>
					</Card>
				)}
				{replay && (
					<ReplayProgress
						endpointId={endpointId}
						jobId={replay}
						onClose={() => {
							last.close()
							showReplay(undefined)
						}}
					/>
				)}
				<EndpointFacts endpoint={endpoint} />
			</Stack>
			<Section title="Deliveries">
				<Deliveries endpoint={endpoint} />
			</Section>
		</Page>
	)
}

/** The replay that was last under way, until its reader closes it. */
function useLastReplay(endpointId: string, underWay: string | null) {
	const [last, setLast] = useState({ endpointId, jobId: underWay })
	const [closed, setClosed] = useState<string | null>(null)
	const isOther = last.endpointId !== endpointId
	if (isOther || (underWay !== null && underWay !== last.jobId))
		setLast({ endpointId, jobId: underWay })
	return {
		jobId: isOther || last.jobId === closed ? null : last.jobId,
		close: () => setClosed(last.jobId),
	}
}

function EndpointFacts({ endpoint }: { endpoint: WebhookEndpoint }) {
	const { url, events, ordering, health } = endpoint
	const { failuresInRow, failingSince, restingUntil } = health
	return (
		<Facts
			facts={[
				['Address', url],
				['Events', eventsInWords(events)],
				['Order', ordering === 'email' ? 'Kept for the events of each mail' : 'Best effort'],
				['Last success', <Time at={health.lastSuccessAt} />],
				[
					'Failures in a row',
					<>
						{formatCount(failuresInRow)}
						{failingSince && (
							<>
								, since <Time at={failingSince} />
							</>
						)}
					</>,
				],
				[
					'Waiting deliveries',
					<>
						{waitingOf(endpoint)}
						{restingUntil && (
							<>
								; the next try is <Time at={restingUntil} />
							</>
						)}
					</>,
				],
			]}
		/>
	)
}
