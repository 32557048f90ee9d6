import { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import { type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { completeClaim } from '../../db/idempotency-key.ts'
import { Job } from '../../db/jobs/job.ts'
import { acceptImport, acceptUndo, lockImport, undoOf } from '../../db/jobs/jobs.ts'
import { cutLine } from '../../db/storable-text.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import {
	cancelAndView,
	ImportJob,
	imports as kind,
	JobParams,
	Queued,
	queued,
	viewJob,
} from '../jobs/jobs.ts'
import { claimLost } from '../requests/idempotency.ts'
import { FileBody, formBytes, readUpload, uploadLimits } from '../uploads/upload.ts'
import { errorsAsCsv } from './import-errors.ts'

const tags = ['contacts']
const config = { auth: 'secret key or session' } as const
const undoDays = 7
const maxNameLength = 255
const maxFileBytes = 5 * 2 ** 20

export const imports: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	await app.register(multipart, { limits: uploadLimits(maxFileBytes) })

	app.post(
		'/contacts/import',
		{
			bodyLimit: maxFileBytes + formBytes,
			config: { ...config, idempotent: true, errors: [400, 413, 422] },
			schema: {
				tags,
				summary: 'Import contacts from a CSV file',
				description:
					'Separated by comma, semicolon or tab; UTF-8. The header needs `email` and may have `subscribed`; other columns become custom data. Later rows win.',
				consumes: ['multipart/form-data'],
				body: FileBody('file', 'The CSV file, at most 5 MB.'),
				response: { 202: Queued },
			},
		},
		async (request, reply) => {
			const { content, filename } = await readCsv(request)
			const { project, idempotency } = request
			const message = 'The import is queued'
			const jobId = await transaction(pool, async (db) => {
				const [job] = await acceptImport(db, {
					projectId: project.id,
					content,
					fileName: cutLine(filename, maxNameLength) || null,
					taskQueue: taskQueues.core,
				})
				if (!idempotency) return job!.id
				const response = { message, jobId: job!.id }
				const claim = { projectId: project.id, ...idempotency, statusCode: 202, response }
				if ((await completeClaim(db, claim)).length === 0) throw claimLost(request)
				return job!.id
			})
			app.relay.wake()
			return queued(reply, 'import', jobId, message)
		},
	)

	app.get(
		'/contacts/import/:jobId',
		{
			config,
			schema: {
				tags,
				summary: 'Get an import, or its undo',
				description:
					'Poll it until `finishedAt` is set. `result` then says how many contacts were created, updated or refused.',
				params: JobParams,
				response: { 200: ImportJob },
			},
		},
		({ em, project, params }) => viewJob(em, project.id, params.jobId, kind),
	)

	app.delete(
		'/contacts/import/:jobId',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Cancel an import, or its undo',
				description: 'Contacts that are already imported stay. A cancelled import can be undone.',
				params: JobParams,
				response: { 200: ImportJob },
			},
		},
		({ em, project, params }) => cancelAndView({ em, pool }, project.id, params.jobId, kind),
	)

	app.get(
		'/contacts/import/:jobId/errors',
		{
			config: { ...config, answers: 'text/csv' },
			schema: {
				tags,
				summary: 'Get all rows that an import could not read, as CSV',
				description: 'They are kept for 90 days.',
				params: JobParams,
			},
		},
		async ({ em, project, params }, reply) => {
			const where = { projectId: project.id, id: params.jobId, type: 'import' as const }
			if ((await em.count(Job, where)) === 0) throw notFound('job', params.jobId)
			return reply
				.type('text/csv; charset=utf-8')
				.header('content-disposition', `attachment; filename="errors-${params.jobId}.csv"`)
				.send(Readable.from(errorsAsCsv(pool, project.id, params.jobId)))
		},
	)

	app.post(
		'/contacts/import/:jobId/undo',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Undo an import within 7 days',
				description:
					'Removes the contacts it created and restores those it changed, unless they were changed since.',
				params: JobParams,
				response: { 202: Queued },
			},
		},
		async ({ project, params }, reply) => {
			const jobId = await transaction(pool, async (db) => {
				const values = { projectId: project.id, importId: params.jobId }
				const [job] = await lockImport(db, values)
				if (!job) throw notFound('job', params.jobId)
				if (!job.finished_at) throw stillRunning(job.state)
				if (Date.now() - job.finished_at.getTime() > undoDays * 86_400_000) throw tooLate()
				const [other] = await undoOf(db, values)
				if (other) throw alreadyUndone(other)
				const [undo] = await acceptUndo(db, { ...values, taskQueue: taskQueues.core })
				return undo!.id
			})
			app.relay.wake()
			return queued(reply, 'import', jobId, 'The undo is queued')
		},
	)
}

const stillRunning = (state: string) =>
	new ApiError(409, 'CONFLICT', `This import is ${state} and cannot be undone yet`, {
		details: { state },
		suggestion: 'Cancel it first, or wait until it has ended.',
	})
const tooLate = () =>
	new ApiError(409, 'CONFLICT', `An import can be undone only within ${undoDays} days`, {
		details: { days: undoDays },
	})
const alreadyUndone = ({ id, state }: { id: string; state: string }) =>
	new ApiError(409, 'CONFLICT', 'This import has already been undone, or is being undone', {
		details: { jobId: id, state },
		suggestion: 'Follow the job named in details.',
	})

async function readCsv(request: FastifyRequest) {
	const { content, filename, mimetype } = await readUpload(request, 'file', maxFileBytes)
	if (/\.csv$/i.test(filename) || /^text\/csv\b/i.test(mimetype)) return { content, filename }
	throw invalid({
		field: 'file',
		message: 'must be a CSV file: named .csv, or of the type text/csv',
		code: 'custom',
	})
}
