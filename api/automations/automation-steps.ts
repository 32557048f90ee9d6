import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import { type StepType, stepTypes } from '../../db/automations/automation-definition.ts'
import {
	deleteStep,
	findStep,
	insertStep,
	insertTransition,
	redirectTransitions,
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
		x: Type.Number({ description: 'To the right.' }),
		y: Type.Number({ description: 'Down.' }),
	},
	{ description: 'Where an editor draws the step.' },
)

const tags = ['workflows']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('workflow') })
const StepParams = Type.Object({ id: PathId('workflow'), stepId: PathId('step') })

const example = { type: 'DELAY', name: 'Two days', config: { amount: 2, unit: 'days' } }

export const automationSteps: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/workflows/:id/steps',
		{
			config: { auth, errors: [400] },
			schema: {
				tags,
				summary: 'Add a step to a workflow',
				description:
					'Unless autoConnect is false, the newest step that leads nowhere leads to it: a CONDITION by its first branch, a WAIT_FOR_EVENT by event. A workflow has at most 500 steps, 1,000 transitions, and 1 MB of configurations.',
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
		async ({ project, params, body }, reply) => {
			const { type, name } = body
			if (type === 'TRIGGER')
				throw refused(
					'A workflow has one TRIGGER, which is made with it',
					'Add another type of step.',
				)
			const { config, templateId } = await configOf(project.id, type, body)
			const { changed } = await edit(pool, project.id, params.id, async (db) => {
				const key = [project.id, params.id]
				const steps = await stepsOf(db, key)
				await checkStepSegments(db, project.id, type, config ?? {}, 'config')
				const { x, y } = body.position ?? { x: 0, y: 150 * steps.length }
				const json = JSON.stringify(config ?? {})
				const values = [...key, type, name, x, y, json, templateId ?? null]
				const [step] = await insertStep(db, values).catch(orNoTemplate(templateId))
				const open = body.autoConnect ? await openStep(db, key, steps) : undefined
				if (open)
					await insertTransition(db, [...key, open.id, step!.id, branchesOf(open)?.[0] ?? null, 0])
				await checkSize(db, key)
				return step!
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
				description: 'Its type stays. A configuration that is given takes the place of the whole.',
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
		async ({ project, params, body }) => {
			const { changed } = await edit(pool, project.id, params.id, async (db) => {
				const key = [project.id, params.id, params.stepId]
				const step = found(await findStep(db, key), params.stepId)
				const changes = await configOf(project.id, step.type, body)
				const { config = step.config, templateId = step.templateId } = changes
				await checkStepSegments(db, project.id, step.type, config, 'config')
				const { x, y } = body.position ?? step.position
				const json = JSON.stringify(config)
				const values = [...key, body.name ?? step.name, x, y, json, templateId]
				const [after] = await updateStep(db, values).catch(orNoTemplate(templateId))
				if (json.length > JSON.stringify(step.config).length) await checkSize(db, key.slice(0, 2))
				return after!
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
				description: 'With splice=true, what led to it leads to its one target afterwards.',
				params: StepParams,
				querystring: Type.Object({
					splice: Type.Boolean({
						default: false,
						description: 'Link the steps before to the step after.',
					}),
				}),
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params, query }, reply) => {
			await edit(pool, project.id, params.id, async (db) => {
				const key = [project.id, params.id, params.stepId]
				const step = found(await findStep(db, key), params.stepId)
				if (step.type === 'TRIGGER')
					throw refused('The TRIGGER is part of the workflow', 'Delete the workflow instead.')
				if (query.splice) await splice(db, key, step.id)
				await deleteStep(db, key)
			})
			return reply.code(204).send(null)
		},
	)
}

/** undefined: what the request does not speak of. */
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
			message: 'is another one than templateId: give one of them',
			code: 'custom',
		})
	return {
		...(checked ? { config: checked.config } : {}),
		...(templateId === undefined ? {} : { templateId }),
	}
}

/** The newest step from which no way leads on. */
async function openStep(db: PoolClient, key: string[], steps: StepRecord[]) {
	const left = new Set((await transitionsOf(db, key)).map(({ fromStepId }) => fromStepId))
	return steps.findLast(({ id, type }) => type !== 'EXIT' && !left.has(id))
}

async function splice(db: PoolClient, key: string[], stepId: string) {
	const ways = await transitionsOf(db, key.slice(0, 2))
	const targets = ways.filter(({ fromStepId }) => fromStepId === stepId)
	if (targets.length > 1)
		throw refused(
			'This step leads to several others',
			'Delete its transitions but one, or delete the step without splice.',
		)
	const target = targets[0]?.toStepId
	if (target) await redirectTransitions(db, [...key, target])
}

function found(rows: StepRecord[], id: string): StepRecord {
	if (!rows[0]) throw notFound('step', id)
	return rows[0]
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
