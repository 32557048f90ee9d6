import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import type { BulkTarget } from '../../db/jobs/bulk-target.ts'
import { acceptBulkJob } from '../../db/jobs/jobs.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ConditionTree } from '../conditions/conditions.ts'
import { filterCondition } from '../contacts/contact-filter.ts'
import { invalid, notFound } from '../errors.ts'
import { about, Id } from '../schemas.ts'
import { BulkJob, bulks, cancelAndView, JobParams, Queued, queued, viewJob } from './jobs.ts'

const tags = ['contacts']
const config = { auth: 'secret key or session' } as const
const maxContacts = 1000

// If a misspelt member were ignored, the job would include more contacts.
const closed = { additionalProperties: false }
const Filter = Type.Object(
	{
		search: Type.Optional(
			Type.String({
				pattern: '\\S',
				'x-message': 'must not be blank; leave it out instead',
				description: 'A substring of the address',
			}),
		),
		subscribed: Type.Optional(
			Type.Boolean({
				description: 'Only contacts who have subscribed, or only those who have not.',
			}),
		),
		segmentId: Type.Optional(about('Only members of this segment.', Id)),
		condition: Type.Optional(ConditionTree),
	},
	{
		...closed,
		description: 'Required with the mode query. An empty filter selects every contact.',
	},
)
const Contacts = Type.Object(
	{
		mode: Type.Optional(
			Type.Enum(['ids', 'query'], {
				description: 'The default is ids. With query, `filter` selects the contacts.',
			}),
		),
		contactIds: Type.Optional(
			Type.Array(Id, {
				minItems: 1,
				maxItems: maxContacts,
				description: 'Required with the mode ids: at most 1,000 contacts.',
			}),
		),
		filter: Type.Optional(Filter),
		excludeIds: Type.Optional(
			Type.Array(Id, { maxItems: 10_000, description: 'Contacts that the mode query leaves out.' }),
		),
		undoes: Type.Optional(
			about(
				'Only for subscribing: the job of a bulk unsubscription that this one takes back. Contacts who have unsubscribed by themselves since then stay unsubscribed.',
				Id,
			),
		),
	},
	{
		...closed,
		title: 'BulkSelection',
		examples: [{ mode: 'query', filter: { subscribed: false } }],
	},
)

const operations = [
	{ type: 'bulk-subscribe', summary: 'Subscribe many contacts' },
	{ type: 'bulk-unsubscribe', summary: 'Unsubscribe many contacts' },
	{ type: 'bulk-delete', summary: 'Delete many contacts' },
] as const

export const bulkJobs: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	for (const { type, summary } of operations)
		app.post(
			`/contacts/${type}`,
			{
				config: { ...config, errors: [404] },
				schema: {
					tags,
					summary,
					description:
						'Takes at most 1,000 `contactIds`, or `mode: "query"` with a `filter`: all contacts that exist now and match it when the job begins, except `excludeIds`. An empty filter matches all contacts.',
					body: Contacts,
					response: { 202: Queued },
				},
			},
			async ({ project, body }, reply) => {
				const { undoes = null } = body
				if (undoes !== null && type !== 'bulk-subscribe')
					throw invalid({ field: 'undoes', message: 'is only for subscribing', code: 'custom' })
				const { ids, target } = await meant(pool, project.id, body)
				const values = {
					projectId: project.id,
					type,
					contactIds: ids,
					target,
					undoes,
					taskQueue: taskQueues.core,
				}
				const [job] = await acceptBulkJob(pool, values)
				if (!job) throw notFound('job', undoes!)
				app.relay.wake()
				return queued(reply, 'bulk', job.id, 'The job is queued')
			},
		)

	app.get(
		'/contacts/bulk/:jobId',
		{
			config,
			schema: {
				tags,
				summary: 'Get a bulk job',
				description:
					'Poll it until `finishedAt` is set. `result` then says how many contacts were changed.',
				params: JobParams,
				response: { 200: BulkJob },
			},
		},
		({ em, project, params }) => viewJob(em, project.id, params.jobId, bulks),
	)

	app.delete(
		'/contacts/bulk/:jobId',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Cancel a bulk job',
				description: 'Contacts that were changed already stay changed.',
				params: JobParams,
				response: { 200: BulkJob },
			},
		},
		({ em, project, params }) => cancelAndView({ em, pool }, project.id, params.jobId, bulks),
	)
}

/** The contacts that the request lists. A duplicate counts once. */
async function meant(pool: Pool, projectId: string, body: Type.Static<typeof Contacts>) {
	const { mode, contactIds, filter, excludeIds = [] } = body
	if (mode !== 'query') {
		if (!contactIds) throw missing('contactIds')
		if (filter) throw otherMode('filter', 'query')
		if (body.excludeIds) throw otherMode('excludeIds', 'query')
		return { ids: [...new Set(contactIds.map((id) => id.toLowerCase()))], target: null }
	}
	if (!filter) throw missing('filter')
	if (contactIds) throw otherMode('contactIds', 'ids')
	const condition = await filterCondition(pool, projectId, filter, 'filter.condition')
	const { subscribed } = filter
	const search = filter.search?.trim()
	const target = { search, subscribed, ...(condition && { condition }), excludeIds }
	return { ids: null, target: target satisfies BulkTarget }
}

const missing = (field: string) => invalid({ field, message: 'is required', code: 'required' })
const otherMode = (field: string, mode: string) =>
	invalid({ field, message: `is only for mode "${mode}"`, code: 'custom' })
