import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { PoolClient } from 'pg'
import type { AutomationKey } from '../../db/automations/automation-schedules.ts'
import { type StepType, stepTypes } from '../../db/automations/automation-definition.ts'
import {
	deleteStep,
	findStep,
	insertStep,
	insertTransition,
	redirectTransitions,
	type StepKey,
	type StepRecord,
	stepsOf,
	transitionsOf,
	updateStep,
} from '../../db/automations/automation-graph-records.ts'
import { branchesOf } from '../../db/automations/automation-graph.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { about, Body, Id, Name, Nullable, PathId } from '../schemas.ts'
import { edit } from './automation-editing.ts'
import { checkSize } from './automation-size.ts'
import { Step, viewOfStep } from './automation-views.ts'
import { checkStepSegments } from './step-conditions.ts'
import { checkedConfig, StepConfig } from './step-configs.ts'

const Template = about('The template to send. For SEND_EMAIL only.', Nullable(Id))
const Position = Type.Object(
	{
		x: Type.Number({ description: 'The distance from the left.' }),
		y: Type.Number({ description: 'The distance from the top.' }),
	},
	{ description: 'Where an editor draws the step.' },
)

const tags = ['workflows']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('workflow') })
const StepParams = Type.Object({ id: PathId('workflow'), stepId: PathId('step') })

const example = { type: 'DELAY', name: 'Two days', config: { amount: 2, unit: 'days' } }

export const automationSteps: FastifyPluginAsyncTypebox = async (app) => {
	app.post(
		'/workflows/:id/steps',
		{
			config: { auth, errors: [400] },
			schema: {
				tags,
				summary: 'Add a step to a workflow',
				description:
					'Unless autoConnect is false, the newest step without an outgoing transition is linked to it: a CONDITION by its first branch, a WAIT_FOR_EVENT by event. A workflow has at most 500 steps, 1,000 transitions, and 1 MB of configurations.',
				params: Params,
				body: Type.Object(
					{
						type: Type.Enum([...stepTypes]),
						name: Name,
						position: Type.Optional(Position),
						config: Type.Optional(StepConfig),
						templateId: Type.Optional(Template),
						autoConnect: Type.Boolean({ default: true }),
					},
					{ title: 'NewStep', examples: [example] },
				),
				response: { 201: Step },
			},
		},
		async (request, reply) => {
			const { project, params, body } = request
			const { type, name } = body
			if (type === 'TRIGGER')
				throw refused(
					'A workflow has exactly one TRIGGER, created with it',
					'Add another type of step.',
				)
			const given = await configOf(project.id, type, body)
			const { changed } = await edit(request, params.id, async (em, _, db) => {
				const key = { projectId: project.id, automationId: params.id }
				const steps = await stepsOf(db, key)
				await checkStepSegments(db, project.id, type, given.config ?? {}, 'config')
				const { x, y } = body.position ?? { x: 0, y: 150 * steps.length }
				const values = { ...key, type, name, x, y, ...given }
				const step = await insertStep(em, values).catch(orNoTemplate(given.templateId))
				const open = body.autoConnect ? await openStep(db, key, steps) : undefined
				if (open)
					await insertTransition(em, {
						...key,
						fromStepId: open.id,
						toStepId: step.id,
						branch: branchesOf(open)?.[0] ?? null,
					})
				await checkSize(db, key)
				return step
			})
			return reply.code(201).send(viewOfStep(changed))
		},
	)

	app.patch(
		'/workflows/:id/steps/:stepId',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Change a step',
				description: 'The type can’t be changed. A new configuration replaces the whole old one.',
				params: StepParams,
				body: Body(
					{ config: { amount: 3, unit: 'days' } },
					{
						name: Type.Optional(Name),
						position: Type.Optional(Position),
						config: Type.Optional(StepConfig),
						templateId: Type.Optional(Template),
					},
				),
				response: { 200: Step },
			},
		},
		async (request) => {
			const { project, params, body } = request
			const { changed } = await edit(request, params.id, async (em, _, db) => {
				const key = { projectId: project.id, automationId: params.id, stepId: params.stepId }
				const step = found(await findStep(em, key), params.stepId)
				const changes = await configOf(project.id, step.type, body)
				const { config = step.config, templateId } = changes
				await checkStepSegments(db, project.id, step.type, config, 'config')
				// Named, because an object of a body may have other members: each would be a column.
				const { x, y } = body.position ?? {}
				const after = await updateStep(em, key, { name: body.name, x, y, ...changes }).catch(
					orNoTemplate(templateId),
				)
				if (JSON.stringify(config).length > JSON.stringify(step.config).length)
					await checkSize(db, key)
				return after
			})
			return viewOfStep(changed)
		},
	)

	app.delete(
		'/workflows/:id/steps/:stepId',
		{
			config: { auth, errors: [400, 422] },
			schema: {
				tags,
				summary: 'Delete a step',
				description: 'With splice=true, its incoming transitions are linked to its one target.',
				params: StepParams,
				querystring: Type.Object({
					splice: Type.Boolean({
						default: false,
						description: 'Link the previous steps to the next one.',
					}),
				}),
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			const { project, params, query } = request
			await edit(request, params.id, async (em, _, db) => {
				const key = { projectId: project.id, automationId: params.id, stepId: params.stepId }
				const step = found(await findStep(em, key), params.stepId)
				if (step.type === 'TRIGGER')
					throw refused('The TRIGGER is part of the workflow', 'Delete the workflow instead.')
				if (query.splice) await splice(db, { ...key, stepId: step.id })
				await deleteStep(em, key)
			})
			return reply.code(204).send(null)
		},
	)
}

/** undefined: the request doesn't contain the configuration. */
async function configOf(
	projectId: string,
	type: StepType,
	body: { config?: Record<string, unknown>; templateId?: string | null },
): Promise<{ config?: Record<string, unknown>; templateId?: string | null }> {
	const checked = body.config && (await checkedConfig(projectId, type, body.config))
	const { templateId = checked?.templateId } = body
	if (templateId && type !== 'SEND_EMAIL')
		throw invalid({ field: 'templateId', message: 'is for SEND_EMAIL steps only', code: 'custom' })
	if (checked?.templateId && checked.templateId !== templateId)
		throw invalid({
			field: 'config.templateId',
			message: 'differs from templateId: give only one of them',
			code: 'custom',
		})
	return {
		...(checked ? { config: checked.config } : {}),
		...(templateId === undefined ? {} : { templateId }),
	}
}

/** The newest step without a transition to a next step. */
async function openStep(db: PoolClient, key: AutomationKey, steps: StepRecord[]) {
	const left = new Set((await transitionsOf(db, key)).map(({ fromStepId }) => fromStepId))
	return steps.findLast(({ id, type }) => type !== 'EXIT' && !left.has(id))
}

async function splice(db: PoolClient, key: StepKey) {
	const { stepId, ...automation } = key
	const ways = await transitionsOf(db, automation)
	const targets = ways.filter(({ fromStepId }) => fromStepId === stepId)
	if (targets.length > 1)
		throw refused(
			'This step has several outgoing transitions',
			'Delete all but one of them, or delete the step without splice.',
		)
	const target = targets[0]?.toStepId
	if (target) await redirectTransitions(db, { ...automation, fromStepId: stepId, toStepId: target })
}

function found(step: StepRecord | undefined, id: string) {
	if (!step) throw notFound('step', id)
	return step
}

const orNoTemplate =
	(templateId: string | null | undefined) =>
	(error: { constraint?: string }): never => {
		throw error.constraint === 'automation_steps_template'
			? notFound('template', templateId)
			: error
	}

const refused = (message: string, suggestion: string) =>
	new ApiError(400, 'BAD_REQUEST', message, { suggestion })
