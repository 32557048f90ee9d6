import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import type { System } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Card, Page, Section, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { HealthChecks } from './health-checks.tsx'
import { Runs } from './runs.tsx'
import { WaitingWork } from './waiting-work.tsx'

export const page = createLazyRoute('/console/$projectId/system')({ component: SystemPage })

function SystemPage() {
	const { project } = useProject()
	if (mayAct(project, 'OWNER')) return <OwnersSystem />
	return (
		<Page title="System">
			<Empty title="Only the owner sees this page">
				<p>It shows whether mail can flow, what waits, and why. Ask the owner of the project.</p>
			</Empty>
		</Page>
	)
}

function OwnersSystem() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'system'],
		queryFn: () => api.projects.getSystem(project.id),
		refetchInterval: liveMs.normal,
	})
	return (
		<Page title="System" about={data && <SendingState system={data} />}>
			<Stack>
				{error && <Fault error={error} retry={() => void refetch()} />}
				{error && !data && (
					<p>
						If the database is away, nothing is accepted, and callers get 503 with the time to try
						again. Mail that was accepted before is sent once it is back.
					</p>
				)}
				{data ? <Stand system={data} /> : !error && <Waiting rows={24} />}
			</Stack>
		</Page>
	)
}

const states: Record<System['sending']['state'], [string, Tone]> = {
	normal: ['Mail is sent at once', 'good'],
	slowed: ['Some mail waits', 'warn'],
	paused: ['No mail is sent', 'bad'],
}

function SendingState({ system }: { system: System }) {
	const [name, tone] = states[system.sending.state]
	return <Badge tone={tone}>{name}</Badge>
}

function Stand({ system }: { system: System }) {
	const { reasons } = system.sending
	return (
		<>
			{reasons.length > 0 && (
				<Card>
					<ul aria-label="Reasons">
						{reasons.map(({ code, message }) => (
							<li key={code + message}>
								{message}. {nextSteps[code]}
							</li>
						))}
					</ul>
				</Card>
			)}
			<Section title="Health">
				<HealthChecks system={system} />
			</Section>
			<Section title="Waiting work">
				<WaitingWork system={system} />
			</Section>
			<Section title="Active runs">
				<Runs runs={system.runs} />
			</Section>
			<Section title="More">
				<p>
					<a href="/docs" target="_blank" rel="noopener">
						The description of the API
					</a>{' '}
					has every figure of this page, and{' '}
					<a href="/health" target="_blank" rel="noopener">
						/health
					</a>{' '}
					answers monitors without a key. The page “Watching it” of the documentation
					(docs/watching.md) has metrics, alerts and traces.
				</p>
			</Section>
		</>
	)
}

const nextSteps: Record<System['sending']['reasons'][number]['code'], string> = {
	PROJECT_DISABLED: 'The page “Settings” shows why, and what ends it.',
	OWNER_UNVERIFIED: 'Follow the link in the mail that you got when you signed up.',
	TEMPORAL_AWAY: 'Start Temporal again, or mend the connection to it. Nothing is lost.',
	WORKER_AWAY: 'Start a worker with npm run worker. Nothing is lost.',
	PROVIDER_AWAY: 'Its last answer is below. Sending is tried again by itself.',
	LIMIT_REACHED:
		'Raise the limit or subscribe on the page “Settings”, under “Billing and limits”, or wait for the next month.',
	SEND_RATE: 'The mails leave one after another at the send rate of the project.',
}
