import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import {
	deleteTransition,
	findStep,
	insertTransition,
	type StepRecord,
	transitionsOf,
} from '../../db/automations/automation-graph-records.ts'
import { branchesOf, maxTransitions } from '../../db/automations/automation-graph.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { about, Body, Id, Nullable, PathId } from '../schemas.ts'
import { edit } from './automation-editing.ts'
import { tooMany } from './automation-size.ts'
import { Transition, viewOfTransition } from './automation-views.ts'

export const Branch = Type.String({ minLength: 1, maxLength: 100 })

const example = {
	fromStepId: '0199d3f4-7e00-7000-8000-000000000001',
	toStepId: '0199d3f4-7e00-7000-8000-000000000002',
	branch: 'yes',
}

const tags = ['workflows']
const auth = 'secret key or session'

export const automationTransitions: FastifyPluginAsyncTypebox = async (app) => {
	app.post(
		'/workflows/:id/transitions',
		{
			config: { auth, errors: [400, 404] },
			schema: {
				tags,
				summary: 'Add a transition between two steps',
				description:
					'A CONDITION needs a branch: yes or no, the id of a named branch, or default. A WAIT_FOR_EVENT takes event or timeout.',
				params: Type.Object({ id: PathId('workflow') }),
				body: Body(example, {
					fromStepId: about('The step where it starts.', Id),
					toStepId: about('The step where it ends.', Id),
					branch: Type.Optional(
						about(
							'Required for a CONDITION. For a WAIT_FOR_EVENT, the default is event.',
							Nullable(Branch),
						),
					),
					condition: Type.Optional(
						about(
							'Another way to give the branch.',
							Nullable(
								Type.Object({ branch: Type.Optional(about('See `branch`.', Nullable(Branch))) }),
							),
						),
					),
					priority: Type.Integer({
						minimum: -(2 ** 31),
						maximum: 2 ** 31 - 1,
						default: 0,
						description: 'The order of transitions in an editor.',
					}),
				}),
				response: { 201: Transition },
			},
		},
		async (request, reply) => {
			const { project, params, body } = request
			const { fromStepId, toStepId, priority } = body
			const key = { projectId: project.id, automationId: params.id }
			const { changed } = await edit(request, params.id, async (em, _, db) => {
				const from = await findStep(em, { ...key, stepId: fromStepId })
				if (!from) throw notFound('step', fromStepId)
				const to = await findStep(em, { ...key, stepId: toStepId })
				if (!to) throw notFound('step', toStepId)
				checkEnds(from, to)
				const branch = branchOf(from, body.branch ?? body.condition?.branch ?? null)
				const ways = await transitionsOf(db, key)
				if (ways.some((way) => way.fromStepId === from.id && way.branch === branch))
					throw taken(from, branch)
				if (ways.length >= maxTransitions) throw invalid(tooMany('transitions', maxTransitions))
				return insertTransition(em, {
					...key,
					fromStepId: from.id,
					toStepId: to.id,
					branch,
					priority,
				})
			})
			return reply.code(201).send(viewOfTransition(changed))
		},
	)

	app.delete(
		'/workflows/:id/transitions/:transitionId',
		{
			config: { auth, errors: [422] },
			schema: {
				tags,
				summary: 'Delete a transition',
				description:
					'An enabled workflow gets a new version at once, and is refused with 422 if it would be incomplete.',
				params: Type.Object({ id: PathId('workflow'), transitionId: PathId('transition') }),
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			const { id, transitionId } = request.params
			const key = { projectId: request.project.id, automationId: id, transitionId }
			await edit(request, id, async (em) => {
				if (!(await deleteTransition(em, key))) throw notFound('transition', transitionId)
			})
			return reply.code(204).send(null)
		},
	)
}

function checkEnds(from: StepRecord, to: StepRecord) {
	if (from.id === to.id) throw refused('toStepId', 'A transition can’t lead from a step to itself')
	if (from.type === 'EXIT') throw refused('fromStepId', 'An EXIT step can’t have a next step')
	if (to.type === 'TRIGGER') throw refused('toStepId', 'No step can lead to the TRIGGER')
}

/** The stored branch: a missing branch of a wait becomes the event's. */
function branchOf(from: StepRecord, given: string | null) {
	const branches = branchesOf(from)
	const field = 'branch'
	if (branches === undefined) {
		if (given === null) return null
		const message = `is not allowed: a step of type ${from.type} has only one next step`
		throw invalid({ field, message, code: 'custom', received: given })
	}
	const branch = given ?? (from.type === 'WAIT_FOR_EVENT' ? 'event' : null)
	const names = branches.join(', ')
	if (branch === null)
		throw invalid({ field, message: `is required: one of ${names}`, code: 'required' })
	if (!branches.includes(branch))
		throw invalid({
			field,
			message: `must be one of ${names}`,
			code: 'invalid_enum_value',
			received: branch,
		})
	return branch
}

const refused = (field: 'fromStepId' | 'toStepId', message: string) =>
	new ApiError(400, 'BAD_REQUEST', message, {
		details: { field },
		suggestion: 'Name another step of this workflow.',
	})

const taken = ({ name }: StepRecord, branch: string | null) =>
	new ApiError(
		400,
		'BAD_REQUEST',
		branch === null
			? `The step "${name}" already has a next step`
			: `The branch ${branch} of the step "${name}" already leads to a step`,
		{ suggestion: 'Delete that transition first.' },
	)
