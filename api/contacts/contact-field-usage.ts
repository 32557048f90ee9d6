import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { fieldUsage } from '../../db/contacts/contact-field-usage.ts'
import { countField, deleteField } from '../../db/contacts/contact-fields.ts'
import { acceptBulkJob } from '../../db/jobs/jobs.ts'
import { createPager } from '../../db/pager.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError } from '../errors.ts'
import { Queued, queued } from '../jobs/jobs.ts'
import { Reference } from '../schemas.ts'
import { FieldParams, isStandard, keyOf } from './contact-fields.ts'

const tags = ['contacts']
const config = { auth: 'secret key or session' } as const
const Uses = Type.Array(Reference)

const changesAtOnce = 5000
const patienceMs = 10_000
/** A request may not wait for more. */
const maxInRequest = 100_000

export const contactFieldUsage: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.get(
		'/contacts/fields/:field/usage',
		{
			config,
			schema: {
				tags,
				summary: 'Get the uses of a field',
				description:
					'Segments, campaigns and workflows whose conditions name the field, and steps that set it. Check it before you delete a field. Texts are not searched: one that shows the field has a gap once the field is deleted.',
				params: FieldParams,
				response: {
					200: Type.Object({
						usedInSegments: Uses,
						usedInCampaigns: Uses,
						usedInWorkflows: Uses,
						contactCount: Type.Integer(),
						canDelete: Type.Boolean(),
					}),
				},
			},
		},
		async ({ project, params: { field } }) => {
			const { uses, isUsed } = await usageOf(project.id, field)
			const contactCount = await contactsWith(project.id, field)
			return { ...uses, contactCount, canDelete: !isStandard(field) && !isUsed }
		},
	)

	app.delete(
		'/contacts/fields/:field',
		{
			config: { ...config, errors: [400, 409] },
			schema: {
				tags,
				summary: 'Delete a custom field from every contact',
				description:
					'If that takes too long for a request, a job does it: see /contacts/bulk/{jobId}.',
				params: FieldParams,
				response: { 200: Type.Object({ deletedFrom: Type.Integer() }), 202: Queued },
			},
		},
		async ({ project, params: { field } }, reply) => {
			if (isStandard(field)) throw standardField(field)
			const { uses, isUsed } = await usageOf(project.id, field)
			if (isUsed) throw inUse(field, uses)
			const isMuch = (await contactsWith(project.id, field)) > maxInRequest
			const deletedFrom = isMuch ? undefined : await deleteWithin(project.id, keyOf(field))
			if (deletedFrom !== undefined) return { deletedFrom }
			const target = { field: keyOf(field), filter: {}, excludeIds: [] }
			const [job] = await acceptBulkJob(pool, {
				projectId: project.id,
				type: 'delete-field',
				contactIds: null,
				target,
				undoes: null,
				taskQueue: taskQueues.core,
			})
			app.relay.wake()
			return queued(reply, 'bulk', job!.id, 'The job is queued')
		},
	)

	async function usageOf(projectId: string, field: string) {
		const [uses] = await fieldUsage(pool, {
			projectId,
			field: isStandard(field) ? field : `data.${keyOf(field)}`,
		})
		return { uses: uses!, isUsed: Object.values(uses!).some(({ length }) => length > 0) }
	}

	async function contactsWith(projectId: string, field: string) {
		const [counted] = await countField(pool, {
			projectId,
			field: isStandard(field) ? '' : keyOf(field),
		})
		return counted!.count
	}

	/** undefined: the time was too short for all of it. */
	async function deleteWithin(projectId: string, key: string) {
		const endsAt = Date.now() + patienceMs
		const page = createPager()
		let deleted = 0
		for (let last = '00000000-0000-0000-0000-000000000000'; Date.now() < endsAt;) {
			const [chunk] = await page((looks) =>
				deleteField(pool, { projectId, field: key, after: last, looks, changes: changesAtOnce }),
			)
			deleted += chunk!.count
			if (chunk!.last === null) return deleted
			last = chunk!.last
		}
		return undefined
	}
}

const standardField = (field: string) =>
	new ApiError(400, 'BAD_REQUEST', `${field} is a standard field and can’t be deleted`, {
		suggestion: `A custom field of the same name is data.${field}.`,
	})

const inUse = (field: string, uses: object) =>
	new ApiError(409, 'CONFLICT', `The field ${field} is in use`, {
		details: { ...uses },
		suggestion: 'Remove it from the uses in details, then delete it.',
	})
