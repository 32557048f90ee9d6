import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { PoolClient } from 'pg'
import { type AutomationDefinition, stepTypes } from '../../db/automations/automation-definition.ts'
import { deleteGraph, restoreGraph } from '../../db/automations/automation-graph-records.ts'
import { keptVersions } from '../../db/automations/automation-limits.ts'
import { updateAutomation } from '../../db/automations/automation-records.ts'
import { countActiveOfVersions } from '../../db/automations/automation-usage.ts'
import {
	existingTemplates,
	findVersion,
	listVersions,
	mostVersions,
} from '../../db/automations/automation-versions.ts'
import { triggerTypes } from '../../db/automations/automation.ts'
import { transactional } from '../../db/transaction.ts'
import { notFound } from '../errors.ts'
import { Component, Extended, Id, Json, Nullable, PathId, Timestamp } from '../schemas.ts'
import { edit, foundAutomation } from './automation-editing.ts'
import { checkedTrigger } from './automation-trigger.ts'
import { Changed, viewOfAutomation } from './automation-views.ts'
import { checkStepSegments } from './step-conditions.ts'

const Version = Component('WorkflowVersion', {
	version: Type.Integer(),
	createdAt: Timestamp,
	hash: Type.String({ description: 'SHA-256 of the definition' }),
})

const ListedVersion = Extended('ListedWorkflowVersion', [Version], {
	activeExecutions: Type.Integer({
		description: 'How many executions of this version have not ended.',
	}),
})

const objectOf = (properties: object, description: string) => ({
	type: 'object',
	additionalProperties: true,
	properties,
	required: Object.keys(properties),
	description,
})
const Definition = Type.Unsafe<AutomationDefinition>({
	...objectOf(
		{
			trigger: objectOf(
				{ type: Type.Enum([...triggerTypes]) },
				'Its type, and the members of its configuration.',
			),
			allowReentry: Type.Boolean(),
			steps: Type.Array(
				Type.Object(
					{
						id: Id,
						type: Type.Enum([...stepTypes]),
						name: Type.String(),
						config: Json,
						templateId: Nullable(Id),
					},
					{ title: 'DefinedStep' },
				),
			),
			transitions: Type.Array(
				Type.Object(
					{
						fromStepId: Id,
						toStepId: Id,
						branch: Nullable(Type.String()),
						priority: Type.Integer(),
					},
					{ title: 'DefinedTransition' },
				),
			),
		},
		'Executions of the version run exactly this.',
	),
	title: 'WorkflowDefinition',
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

export const automationVersions: FastifyPluginAsyncTypebox = async (app) => {
	app.get(
		'/workflows/:id/versions',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List the versions of a workflow, newest first',
				description: `Enabling a workflow freezes a version, and so does every change to an enabled one. The current version and the ${keptVersions} before it are kept, and of older ones those that executions have used. At most the newest ${mostVersions} are listed.`,
				params: Params,
				response: { 200: Type.Array(ListedVersion) },
			},
		},
		({ em, project, params }) =>
			transactional(
				em,
				async (em, db) => {
					const key = { projectId: project.id, automationId: params.id }
					await foundAutomation(em, key)
					const versions = await listVersions(em, key)
					const counted = await countActiveOfVersions(db, key)
					const active = new Map(counted.map((one) => [one.version, one.active]))
					return versions.map((one) => ({
						...one,
						activeExecutions: active.get(one.version) ?? 0,
					}))
				},
				'set transaction isolation level repeatable read, read only',
			),
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
						definition: Definition,
					}),
				},
			},
		},
		async ({ em, project, params }) => {
			await foundAutomation(em, { projectId: project.id, automationId: params.id })
			const key = { projectId: project.id, automationId: params.id }
			return found(await findVersion(em, key, params.version), params.version)
		},
	)

	app.post(
		'/workflows/:id/versions/:version/restore',
		{
			config: { auth, errors: [422] },
			schema: {
				tags,
				summary: 'Restore an old version',
				description:
					'The version becomes the draft. If the workflow is enabled, it also becomes a new version at once. A step whose template no longer exists has none.',
				params: VersionParams,
				response: { 200: Changed },
			},
		},
		async (request) => {
			const { project, params } = request
			const { draft, warnings } = await edit(request, params.id, async (em, _, db) => {
				const key = { projectId: project.id, automationId: params.id }
				const version = found(await findVersion(em, key, params.version), params.version)
				const { trigger, allowReentry, steps, transitions } = version.definition
				// If its segment was deleted, a schedule without it would enrol every contact.
				const { type: triggerType, ...triggerConfig } = trigger
				const columns = await checkedTrigger(db, project.id, triggerType, triggerConfig)
				await updateAutomation(em, key, { ...columns, allowReentry })
				for (const { id, type, config } of steps)
					await checkStepSegments(db, project.id, type, config, `steps.${id}.config`)
				const templates = await templatesOf(db, project.id, steps)
				const placed = steps.map((step) => ({
					...step,
					...version.positions[step.id],
					templateId: step.templateId && templates.has(step.templateId) ? step.templateId : null,
				}))
				await deleteGraph(db, key)
				await restoreGraph(db, { ...key, steps: placed, transitions })
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
	return new Set((await existingTemplates(db, { projectId, templateIds: ids })).map(({ id }) => id))
}

function found<T>(version: T | undefined, number: number): T {
	if (!version) throw notFound('version', number)
	return version
}
