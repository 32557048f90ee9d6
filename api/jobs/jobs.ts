import type { EntityManager } from '@mikro-orm/postgresql'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Pool } from 'pg'
import { JobError } from '../../db/jobs/job-error.ts'
import { bulkTypes, importTypes, Job, jobStates } from '../../db/jobs/job.ts'
import { cancelJob } from '../../db/jobs/jobs.ts'
import { ApiError, notFound } from '../errors.ts'
import { Undo, undosOf } from '../imports/undos.ts'
import { Component, Id, Nullable, PathId, Timestamp } from '../schemas.ts'

const Count = Type.Integer()
const Message = Nullable(Type.String())
const maxErrors = 1000

const counts = {
	totalRows: Count,
	successCount: Count,
	createdCount: Count,
	updatedCount: Count,
	failureCount: Count,
}
export const ImportCounts = Component('ImportCounts', counts)
const ImportResult = Component('ImportResult', {
	...counts,
	errors: Type.Array(Type.Object({ row: Count, email: Message, error: Type.String() }), {
		description:
			'The first 1,000; all of them at /contacts/import/{jobId}/errors. Kept for 90 days',
	}),
})
const UndoResult = Component('UndoResult', { restored: Count, removed: Count, skipped: Count })
const BulkResult = Component('BulkResult', {
	operation: Type.String(),
	totalRequested: Count,
	successCount: Count,
	unchangedCount: Count,
	failureCount: Count,
	errors: Type.Array(
		Type.Object({ contactId: Nullable(Id), email: Message, error: Type.String() }),
		{ description: 'Kept for 90 days' },
	),
})

export const Queued = Type.Object({ message: Type.String(), jobId: Id })
/** 202, with the address at which the job can be followed. */
export const queued = (
	reply: FastifyReply,
	kind: 'import' | 'bulk',
	jobId: string,
	message: string,
) => reply.code(202).header('location', `/contacts/${kind}/${jobId}`).send({ message, jobId })
export const JobParams = Type.Object({ jobId: PathId('job') })

const members = {
	id: Id,
	state: Type.Enum([...jobStates]),
	progress: Type.Integer({ minimum: 0, maximum: 100 }),
	failedReason: Message,
	createdAt: Timestamp,
	startedAt: Nullable(Timestamp),
	finishedAt: Nullable(Timestamp),
}
const untilThen = { description: 'Null until the job has ended.' }

export const ImportMembers = {
	...members,
	fileName: Nullable(
		Type.String({ description: 'Null for an undo, and where the form had none.' }),
	),
}
export const ImportJob = Component('ImportJob', {
	...ImportMembers,
	type: Type.Enum([...importTypes]),
	result: Type.Union([ImportResult, UndoResult, Type.Null()], untilThen),
	undo: Undo,
})
export const BulkJob = Component('BulkJob', {
	...members,
	type: Type.Enum([...bulkTypes]),
	result: Type.Union([BulkResult, Type.Null()], untilThen),
})
/** The kinds of jobs that a route shows; other jobs are not found by it. */
export const imports = { types: importTypes, View: ImportJob }
export const bulks = { types: bulkTypes, View: BulkJob }
type Kind = typeof imports | typeof bulks
type JobView<K extends Kind> = Type.Static<K['View']>

/** A job as its callers see it. The result is present once the job has ended in any way. */
export async function viewJob<K extends Kind>(
	em: EntityManager,
	projectId: string,
	id: string,
	{ types }: K,
): Promise<JobView<K>> {
	const job = await em.findOne(Job, { projectId, id, type: { $in: [...types] } }, { refresh: true })
	if (!job) throw notFound('job', id)
	const hasResult = job.finishedAt !== null && job.total !== null
	const view = {
		...importMembers(job),
		type: job.type,
		result: hasResult ? await resultOf(em, job) : null,
		...(types === importTypes && {
			undo: (await undosOf(em, projectId, [id])).get(id) ?? null,
		}),
	}
	// The query found only jobs of this kind.
	return view as JobView<K>
}

export const importMembers = (job: Job) => ({
	id: job.id,
	state: job.state,
	progress: progressOf(job),
	fileName: job.fileName ?? null,
	failedReason: job.failedReason ?? null,
	createdAt: job.createdAt,
	startedAt: job.startedAt ?? null,
	finishedAt: job.finishedAt ?? null,
})

export const importCounts = (job: Job) => ({
	totalRows: job.total!,
	successCount: job.createdCount + job.changedCount + job.unchangedCount,
	createdCount: job.createdCount,
	updatedCount: job.changedCount + job.unchangedCount,
	failureCount: job.failedCount,
})

function progressOf({ type, state, total, position, failedCount }: Job) {
	if (state === 'completed') return 100
	if (!total) return 0
	// Unreadable rows of a file are sorted out before the first row is applied.
	const done = position + (type === 'import' ? failedCount : 0)
	return Math.min(99, Math.floor((100 * done) / total))
}

async function resultOf(em: EntityManager, job: Job): Promise<JobView<Kind>['result']> {
	const { total, changedCount, unchangedCount, removedCount, failedCount } = job
	if (job.type === 'undo')
		return { restored: changedCount, removed: removedCount, skipped: unchangedCount }
	const errors = await em.find(
		JobError,
		{ projectId: job.projectId, jobId: job.id },
		{ orderBy: { row: 'asc' }, limit: maxErrors },
	)
	if (job.type === 'import')
		return {
			...importCounts(job),
			errors: errors.map(({ row, email, error }) => ({ row, email: email ?? null, error })),
		}
	return {
		operation: job.type.replace('bulk-', ''),
		totalRequested: total!,
		successCount: changedCount,
		unchangedCount,
		failureCount: failedCount,
		errors: errors.map(({ contactId, email, error }) => ({
			contactId: contactId ?? null,
			email: email ?? null,
			error,
		})),
	}
}

/** Finished chunks stay. The workflow notices before its next chunk. */
export async function cancelAndView<K extends Kind>(
	{ em, pool }: { em: EntityManager; pool: Pool },
	projectId: string,
	id: string,
	kind: K,
) {
	const [cancelled] = await cancelJob(pool, { projectId, jobId: id, types: kind.types })
	const job = await viewJob(em, projectId, id, kind)
	if (!cancelled)
		throw new ApiError(409, 'CONFLICT', `This job is ${job.state} and cannot be cancelled`, {
			details: { state: job.state },
			suggestion: 'Only a job that is waiting or active can be cancelled.',
		})
	return job
}
