import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import type { ProjectSecurity, ReputationWindow } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords } from '../parts/badge.tsx'
import { Fault } from '../parts/fault.tsx'
import { type FigureOf, Figures, formatPercent } from '../parts/figures.tsx'
import { Notice } from '../parts/notice.tsx'
import { Section, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { type Moment, Timeline } from '../parts/timeline.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'

export const page = createLazyRoute('/console/$projectId/settings/reputation')({
	component: ReputationPage,
})

type Level = ProjectSecurity['levels']['bounce7Day']
const tones = { healthy: 'good', warning: 'warn', critical: 'bad' } as const

function ReputationPage() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'reputation'],
		queryFn: () => api.projects.security(project.id),
		refetchInterval: liveMs.slow,
	})
	if (!data) return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />
	const { status, levels, recentSuspensions } = data
	return (
		<Stack>
			<p>
				Mailbox providers judge a sender by bounces and spam reports. A project with too many of
				them is suspended, before its domains are blocked everywhere.
			</p>
			<Verdict {...data} />
			<Window name="The last 24 hours" window={status.twentyFourHour} />
			<Window
				name="The last 7 days"
				window={status.sevenDay}
				bounces={levels.bounce7Day}
				complaints={levels.complaint7Day}
			/>
			<Window
				name="All time"
				window={status.allTime}
				bounces={levels.bounceAllTime}
				complaints={levels.complaintAllTime}
			/>
			{recentSuspensions.length > 0 && (
				<Section title="Suspensions">
					<Timeline moments={recentSuspensions.map(momentOf)} />
				</Section>
			)}
		</Stack>
	)
}

function Verdict({ status, isDisabled }: ProjectSecurity) {
	const { violations, warnings, isHealthy } = status
	if (isHealthy && !isDisabled)
		return (
			<Notice tone="good">
				<p>Nothing is wrong with what this project sends.</p>
			</Notice>
		)
	return (
		<Notice tone={isDisabled || violations.length > 0 ? 'bad' : 'warn'}>
			{isDisabled && (
				<p>This project is disabled and sends no mail. Reading its data still works.</p>
			)}
			{[...violations, ...warnings].map((sentence) => (
				<p key={sentence}>{sentence}</p>
			))}
		</Notice>
	)
}

interface WindowProps {
	name: string
	window: ReputationWindow
	bounces?: Level
	complaints?: Level
}

const Window = ({ name, window, bounces = 'healthy', complaints = 'healthy' }: WindowProps) => (
	<Section title={name}>
		<Figures
			figures={[
				{ name: 'Mails', value: window.total },
				figureOf('Bounces', window.bounces, window.bounceRate, bounces),
				figureOf('Spam reports', window.complaints, window.complaintRate, complaints),
			]}
		/>
	</Section>
)

const figureOf = (name: string, value: number, rate: number, level: Level): FigureOf => ({
	name,
	value,
	about: level === 'healthy' ? formatPercent(rate) : `${formatPercent(rate)} · ${inWords(level)}`,
	...(level === 'healthy' ? {} : { tone: tones[level] }),
})

const reasons: Record<string, string> = {
	EMAIL_REPUTATION: 'Too many bounces or spam reports',
	PAYMENT_FAILED: 'A payment failed',
	MANUAL: 'Disabled by the operator',
}

const momentOf = ({
	at,
	reason,
	liftedAt,
}: ProjectSecurity['recentSuspensions'][number]): Moment => ({
	at,
	title: reasons[reason] ?? inWords(reason),
	tone: liftedAt ? 'none' : 'bad',
	detail: liftedAt ? (
		<>
			Lifted <Time at={liftedAt} as="date" />
		</>
	) : (
		'Not lifted yet'
	),
})
