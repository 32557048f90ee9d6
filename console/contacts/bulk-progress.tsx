import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { BulkJob } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Card, Row, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { beginBulk, undoOf } from './bulk-acts.ts'
import { Progress } from './progress.tsx'
import { useJob } from './use-job.ts'

const route = getRouteApi('/console/$projectId/contacts')

/** A bulk job, until its reader has seen how it ended. */
export function BulkProgress({ jobId }: { jobId: string }) {
	const { api } = useProject()
	const navigate = route.useNavigate()
	const { job, error } = useJob(jobId, (id) => api.contacts.getBulkJob(id))
	const cancel = useMutation({ mutationFn: () => api.contacts.cancelBulkJob(jobId) })
	const isEnded = Boolean(job?.finishedAt ?? error)
	const close = () =>
		void navigate({ search: (old) => ({ ...old, job: undefined }), replace: true })
	return (
		<Card>
			<Stack>
				<Row>
					<strong role="status">{job ? sentenceOf(job) : 'Starting …'}</strong>
					{isEnded ? (
						<>
							{job && <Undo job={job} />}
							<Button onClick={close}>Close</Button>
						</>
					) : (
						<Button isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
							Cancel the rest
						</Button>
					)}
				</Row>
				{!isEnded && <Progress name="Bulk change" percent={job?.progress ?? 0} />}
				<Fault error={error ?? cancel.error} />
				{job?.result && <Failures result={job.result} />}
			</Stack>
		</Card>
	)
}

/** Later, the owner may have acted on the change. */
const undoMs = 10 * 60_000

/**
 * Offered where it is known which contacts the job changed. If it changed fewer than were expected, somebody else
 * had changed the others, perhaps they themselves.
 */
function Undo({ job: { id, result, finishedAt } }: { job: BulkJob }) {
	const { api } = useProject()
	const navigate = route.useNavigate()
	const undo = undoOf(id)
	const { mutate, error, isPending } = useMutation({
		mutationFn: ({ act, selection }: NonNullable<typeof undo>) => beginBulk(api, act, selection),
		onSuccess: (begun) =>
			navigate({ search: (old) => ({ ...old, job: begun.jobId }), replace: true }),
	})
	const isRecent = Date.now() - new Date(finishedAt ?? 0).getTime() < undoMs
	if (!undo || !isRecent || result?.successCount !== undo.selection.contactIds?.length) return null
	return (
		<>
			<Fault error={error} />
			<Button isBusy={isPending} onClick={() => mutate(undo)}>
				Undo
			</Button>
		</>
	)
}

const pasts: Record<BulkJob['type'], string> = {
	'bulk-subscribe': 'subscribed',
	'bulk-unsubscribe': 'unsubscribed',
	'bulk-delete': 'deleted',
	'delete-field': 'changed',
}

function sentenceOf({ type, state, progress, result, failedReason }: BulkJob) {
	const past = pasts[type]
	if (state === 'waiting' || state === 'active') return `Contacts are being ${past}: ${progress} %`
	if (!result)
		return state === 'failed' ? `The job failed: ${failedReason}` : 'The job is cancelled'
	const { successCount, unchangedCount, failureCount } = result
	const parts = [
		`${formatCount(successCount)} ${past}`,
		...(unchangedCount > 0 ? [`${formatCount(unchangedCount)} unchanged`] : []),
		...(failureCount > 0 ? [`${formatCount(failureCount)} failed`] : []),
	]
	const end = { cancelled: 'Cancelled', failed: `Failed: ${failedReason}` }[String(state)]
	return [...(end ? [end] : []), ...parts].join(', ')
}

function Failures({ result }: { result: NonNullable<BulkJob['result']> }) {
	if (result.errors.length === 0) return null
	return (
		<ul>
			{result.errors.slice(0, 50).map(({ contactId, email, error }, index) => (
				<li key={contactId ?? index}>
					{email ?? contactId}: {error}
				</li>
			))}
		</ul>
	)
}
