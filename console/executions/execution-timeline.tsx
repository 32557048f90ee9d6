import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { ExecutionWithSteps } from '../../client/index.ts'
import { inWords, type Tone } from '../parts/badge.tsx'
import { counted } from '../parts/counted.ts'
import { Soft } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { type Moment, Timeline } from '../parts/timeline.tsx'
import { useProject } from '../shell/projects.ts'
import { errorInWords } from './error-in-words.ts'

type Visit = ExecutionWithSteps['stepExecutions'][number]

const tones: Record<Visit['status'], Tone> = {
	PENDING: 'info',
	RUNNING: 'info',
	WAITING: 'info',
	COMPLETED: 'good',
	SKIPPED: 'warn',
	FAILED: 'bad',
}

export function ExecutionTimeline({ execution }: { execution: ExecutionWithSteps }) {
	const { stepExecutions: visits, status, completedAt, exitReason } = execution
	const moments: Moment[] = [
		...visits.map((visit) => ({
			at: visit.startedAt,
			title: visit.step?.name ?? 'A step of another version',
			tone: tones[visit.status],
			detail: <Detail visit={visit} />,
		})),
		...(completedAt
			? [
					{
						at: completedAt,
						title: inWords(status),
						detail: exitReason,
						tone: status === 'FAILED' ? ('bad' as const) : ('none' as const),
					},
				]
			: []),
	]
	if (moments.length === 0) return <Soft>The first step is about to begin.</Soft>
	return <Timeline moments={moments} />
}

function Detail({ visit }: { visit: Visit }) {
	const { project } = useProject()
	const { status, output, error, attempts, wakesAt, completedAt } = visit
	const { emailId, triggered: _, timestamp: _t, success: _s, ...rest } = output ?? {}
	return (
		<>
			{status === 'WAITING' && wakesAt && (
				<>
					Until <Time at={wakesAt} as="date" />.{' '}
				</>
			)}
			{status === 'WAITING' && !wakesAt && 'Until it happens. '}
			{completedAt && status === 'COMPLETED' && (
				<>
					Done at <Time at={completedAt} as="clock" />.{' '}
				</>
			)}
			{status === 'SKIPPED' && 'The execution ended here. '}
			{attempts !== null &&
				`${counted(attempts, 'call')}${status === 'RUNNING' ? ' so far' : ''}. `}
			{error && `${errorInWords(error)}. `}
			<Output of={rest} />{' '}
			{typeof emailId === 'string' && (
				<>
					<Link
						to="/console/$projectId/emails/$emailId"
						params={{ projectId: project.id, emailId }}
					>
						The mail
					</Link>{' '}
				</>
			)}
		</>
	)
}

/** `statusCode` 200 and `recipientEmail` are shown as `Status code: 200 · Recipient email: …`. */
const Output = ({ of }: { of: Record<string, unknown> }) =>
	Object.entries(of)
		.filter(([, value]) => value !== null)
		.map(([name, value], index) => (
			<Fragment key={name}>
				{index > 0 && ' · '}
				{inWords(name.replaceAll(/([A-Z])/g, '_$1'))}: <Value of={value} />
			</Fragment>
		))

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function Value({ of }: { of: unknown }) {
	if (typeof of !== 'string') return JSON.stringify(of)
	return moment.test(of) ? <Time at={of} as="date" /> : of
}
