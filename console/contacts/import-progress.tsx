import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ImportJob } from '../../client/index.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Card, Row, Soft, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { ImportResults } from './import-results.tsx'
import { Progress } from './progress.tsx'
import { UndoImport } from './undo-import.tsx'
import { useJob } from './use-job.ts'

const route = getRouteApi('/console/$projectId/contacts/import')

/** An import, or the undo of one, from its beginning to its results. */
export function ImportProgress({ jobId }: { jobId: string }) {
	const { project, api } = useProject()
	const { job, error, retry } = useJob(jobId, (id) => api.contacts.getImport(id))
	if (!job) return error ? <Fault error={error} retry={retry} /> : <Waiting />
	return (
		<Stack>
			<Card>
				<Stack>
					<Row>
						<strong role="status">{sentenceOf(job)}</strong>
						<Soft>
							<Time at={job.finishedAt ?? job.createdAt} />
						</Soft>
					</Row>
					<Progress name={job.type === 'undo' ? 'Undo' : 'Import'} percent={job.progress} />
					{job.failedReason && <p>{job.failedReason}</p>}
					<Fault error={error} />
					{!job.finishedAt && <Cancel job={job} />}
				</Stack>
			</Card>
			{job.result && <ImportResults job={job} result={job.result} />}
			{job.finishedAt && (
				<Row>
					<Link
						to="/console/$projectId/contacts"
						params={{ projectId: project.id }}
						className={buttonClass('primary')}
					>
						Show the contacts
					</Link>
					<route.Link search={{}} className={buttonClass()}>
						Import another file
					</route.Link>
					{job.undo ? (
						<route.Link search={{ job: job.undo.jobId }} className={buttonClass()}>
							Show the undo
						</route.Link>
					) : (
						job.type === 'import' && <UndoImport job={job} />
					)}
				</Row>
			)}
		</Stack>
	)
}

function sentenceOf({ type, state, progress }: ImportJob) {
	const noun = type === 'undo' ? 'The undo' : 'The import'
	switch (state) {
		case 'waiting':
			return `${noun} is about to begin`
		case 'active':
			return `${noun} is under way: ${progress} %`
		case 'completed':
			return `${noun} is complete`
		case 'failed':
			return `${noun} failed`
		case 'cancelled':
			return `${noun} is cancelled. Earlier changes stay.`
	}
}

function Cancel({ job }: { job: ImportJob }) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const { mutate, error, isPending } = useMutation({
		mutationFn: () => api.contacts.cancelImport(job.id),
		onSettled: () => queries.invalidateQueries({ queryKey: [project.id, 'jobs', job.id] }),
	})
	return (
		<>
			<Fault error={error} />
			<Row>
				<Button isBusy={isPending} onClick={() => mutate()}>
					Cancel the rest
				</Button>
			</Row>
		</>
	)
}
