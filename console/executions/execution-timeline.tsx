import { Link } from '@tanstack/react-router'
import type { ExecutionWithSteps } from '../../client/index.ts'
import { inWords, type Tone } from '../parts/badge.tsx'
import { counted } from '../parts/counted.ts'
import { Soft } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { type Moment, Timeline } from '../parts/timeline.tsx'
import { useProject } from '../shell/projects.ts'
import { branchInWords } from '../workflows/step-words.ts'
import { useVersion } from '../workflows/workflow-queries.ts'
import { errorInWords } from './error-in-words.ts'
import { StepOutput } from './step-output.tsx'

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
	const { data: version } = useVersion(execution.workflowId, execution.version)
	function branchOf({ stepId, output }: Visit) {
		const branch = output?.['branch']
		const step = version?.definition.steps.find(({ id }) => id === stepId)
		return step && typeof branch === 'string' ? branchInWords(step, branch) : ''
	}
	const moments: Moment[] = [
		...visits.map((visit) => ({
			at: visit.startedAt,
			title: visit.step?.name ?? 'A step of another version',
			tone: tones[visit.status],
			detail: <Detail visit={visit} branch={branchOf(visit)} />,
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

function Detail({ visit, branch }: { visit: Visit; branch: string }) {
	const { project } = useProject()
	const { status, output, error, attempts, wakesAt, completedAt } = visit
	const emailId = output?.['emailId']
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
			<StepOutput of={output ?? {}} branch={branch} />{' '}
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
