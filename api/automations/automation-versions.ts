import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import type { AutomationDefinition } from '../../db/automations/automation-definition.ts'
import { deleteGraph, restoreGraph } from '../../db/automations/automation-graph-records.ts'
import { findAutomation, updateAutomation } from '../../db/automations/automation-records.ts'
import {
	existingTemplates,
	findVersion,
	listVersions,
} from '../../db/automations/automation-versions.ts'
import { notFound } from '../errors.ts'
import { Component, PathId, Timestamp } from '../schemas.ts'
import { edit, existing } from './automation-editing.ts'
import { checkedTrigger } from './automation-trigger.ts'
import { Changed, viewOfAutomation } from './automation-views.ts'
import { checkStepSegments } from './step-conditions.ts'

const Version = Component('WorkflowVersion', {
	version: Type.Integer(),
	createdAt: Timestamp,
	hash: Type.String({ description: 'Of the definition, SHA-256' }),
})

const tags = ['workflows']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('workflow') })
const VersionParams = Type.Object({
	id: PathId('workflow'),
	version: Type.Integer({
		minimum: 1,
		maximum: 2 ** 31 - 1,
		'x-resource': 'version',
		description: 'The number of the version.',
	}),
})

export const automationVersions: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.get(
		'/workflows/:id/versions',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List the versions of a workflow, newest first',
				description:
					'Enabling a workflow freezes a version, and so does every change to an enabled one.',
				params: Params,
				response: { 200: Type.Array(Version) },
			},
		},
		async ({ project, params }) => {
			existing(await findAutomation(pool, [project.id, params.id]), params.id)
			return listVersions(pool, [project.id, params.id])
		},
	)

	app.get(
		'/workflows/:id/versions/:version',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get a version of a workflow',
				description: 'The complete definition, with every default written out. It never changes.',
				params: VersionParams,
				response: {
					200: Type.Interface([Version], {
						definition: Type.Unsafe<AutomationDefinition>({
							type: 'object',
							additionalProperties: true,
							description: '{ trigger, allowReentry, steps, transitions }',
						}),
					}),
				},
			},
		},
		async ({ project, params }) => {
			existing(await findAutomation(pool, [project.id, params.id]), params.id)
			return found(await findVersion(pool, [project.id, params.id, params.version]), params.version)
		},
	)

	app.post(
		'/workflows/:id/versions/:version/restore',
		{
			config: { auth, errors: [422] },
			schema: {
				tags,
				summary: 'Make an old version the current draft',
				description:
					'Of an enabled workflow it becomes a new version at once. A step whose template is gone is left without one.',
				params: VersionParams,
				response: { 200: Changed },
			},
		},
		async ({ project, params }) => {
			const { draft, warnings } = await edit(pool, project.id, params.id, async (db, before) => {
				const key = [project.id, params.id]
				const version = found(await findVersion(db, [...key, params.version]), params.version)
				const { trigger, allowReentry, steps, transitions } = version.definition
				// Its segment may be gone: without it, a schedule would enrol everybody.
				const { type: triggerType, ...triggerConfig } = trigger
				const columns = await checkedTrigger(db, project.id, triggerType, triggerConfig)
				await updateAutomation(db, [
					...key,
					before.name,
					before.description,
					before.enabled,
					columns.triggerType,
					columns.eventName,
					columns.schedule,
					columns.timezone,
					columns.segmentId,
					allowReentry,
				])
				for (const { id, type, config } of steps)
					await checkStepSegments(db, project.id, type, config, `steps.${id}.config`)
				const templates = await templatesOf(db, project.id, steps)
				const placed = steps.map((step) => ({
					...step,
					...version.positions[step.id],
					templateId: step.templateId && templates.has(step.templateId) ? step.templateId : null,
				}))
				await deleteGraph(db, key)
				await restoreGraph(db, [...key, JSON.stringify(placed), JSON.stringify(transitions)])
			})
			return { ...viewOfAutomation(draft.automation), warnings }
		},
	)
}

async function templatesOf(
	db: PoolClient,
	projectId: string,
	steps: AutomationDefinition['steps'],
) {
	const ids = steps.flatMap(({ templateId }) => templateId ?? [])
	return new Set((await existingTemplates(db, [projectId, ids])).map(({ id }) => id))
}

function found<T>(rows: T[], version: number): T {
	if (!rows[0]) throw notFound('version', version)
	return rows[0]
}
