import Type from 'typebox'
import type { PoolClient } from 'pg'
import { stepTypes } from '../../db/automations/automation-definition.ts'
import {
	branchesOf,
	type Draft,
	type Graph,
	type GraphStep,
	maxConfigBytes,
	maxSteps,
	maxTransitions,
} from '../../db/automations/automation-graph.ts'
import { triggerTypes } from '../../db/automations/automation.ts'
import { existingTemplates } from '../../db/automations/automation-versions.ts'
import { ApiError, type FieldError } from '../errors.ts'
import { about, Id, Name, Nullable } from '../schemas.ts'
import { checkedTrigger, type TriggerColumns } from './automation-trigger.ts'
import { checkStepSegments } from './step-conditions.ts'
import { configProblems, storedConfig } from './step-configs.ts'

// A workflow's trigger, steps and transitions in one body, for editors.

const Position = Type.Object(
	{
		x: Type.Number({ description: 'The distance from the left.' }),
		y: Type.Number({ description: 'The distance from the top.' }),
	},
	{ description: 'Where an editor draws the step.' },
)

const anyObject = (description: string) =>
	Type.Unsafe<Record<string, unknown>>({
		type: 'object',
		additionalProperties: true,
		description,
	})

const GivenStep = Type.Object(
	{
		id: about('The id of a step of this workflow, or a new UUID for a new step.', Id),
		type: Type.Enum([...stepTypes], { description: 'Can’t be changed.' }),
		name: about('The name of the step.', Name),
		position: Type.Optional(Position),
		config: Type.Optional(
			anyObject('The configuration for its type. See POST /workflows/{id}/steps.'),
		),
		templateId: Type.Optional(about('The template to send. For SEND_EMAIL only.', Nullable(Id))),
	},
	{ title: 'GraphStep' },
)

const GivenTransition = Type.Object(
	{
		fromStepId: about('The step where it starts.', Id),
		toStepId: about('The step where it ends.', Id),
		branch: Type.Optional(
			about(
				'Required for a CONDITION. For a WAIT_FOR_EVENT, the default is event.',
				Nullable(Type.String({ minLength: 1, maxLength: 100 })),
			),
		),
	},
	{ title: 'GraphTransition' },
)

const trigger = '01a20d5c-7c38-720b-bad1-dc4f5809ee55'
const wait = '01a20d5c-8f11-7d2b-be8d-228f4538b232'

export const GraphBody = Type.Object(
	{
		triggerType: Type.Optional(
			Type.Enum([...triggerTypes], {
				description: 'See PATCH /workflows/{id}.',
			}),
		),
		triggerConfig: Type.Optional(
			about(
				'The members for its type. See PATCH /workflows/{id}.',
				Nullable(anyObject('The members.')),
			),
		),
		allowReentry: Type.Optional(
			Type.Boolean({ description: 'Let a contact enter again once its execution has ended.' }),
		),
		steps: Type.Array(GivenStep, {
			maxItems: maxSteps,
			description: 'All steps. One of them is the TRIGGER.',
		}),
		transitions: Type.Array(GivenTransition, {
			maxItems: maxTransitions,
			description: 'All transitions. The order is kept.',
		}),
	},
	{
		title: 'WorkflowGraph',
		examples: [
			{
				steps: [
					{ id: trigger, type: 'TRIGGER', name: 'Trigger' },
					{ id: wait, type: 'DELAY', name: 'A day', config: { amount: 1, unit: 'days' } },
				],
				transitions: [{ fromStepId: trigger, toStepId: wait }],
			},
		],
	},
)
export type GraphBody = Type.Static<typeof GraphBody>

export interface Fault {
	step?: { id: string; name: string }
	member: string
	message: string
	code: FieldError['code']
	received?: unknown
}

interface ReadGraph {
	trigger: Partial<TriggerColumns>
	graph: Graph & { steps: StoredStep[] }
	faults: Fault[]
}
type StoredStep = GraphStep & { x: number; y: number }

/** The graph in its stored form, and what keeps it from being stored. */
export async function readGraph(
	db: PoolClient,
	projectId: string,
	before: Draft,
	given: GraphBody,
): Promise<ReadGraph> {
	const faults: Fault[] = []
	const body = withLowerCaseIds(given)
	const trigger = await faultless(faults, () => triggerOf(db, projectId, before, body), {})
	const steps: StoredStep[] = []
	for (const given of body.steps) {
		const { step, faults: found } = await readStep(projectId, before, given)
		steps.push(step)
		faults.push(...found)
		const check = () => checkStepSegments(db, projectId, step.type, step.config, 'config')
		if (found.length === 0) await faultless(faults, check, undefined, step)
	}
	faults.push(
		...wholeFaults(steps),
		...(await templateFaults(db, projectId, steps)),
		...transitionFaults(steps, body.transitions),
	)
	const transitions = body.transitions.map(({ fromStepId, toStepId, branch = null }, priority) => ({
		fromStepId,
		toStepId,
		branch: branch ?? (typeOf(steps, fromStepId) === 'WAIT_FOR_EVENT' ? 'event' : null),
		priority,
	}))
	return {
		trigger,
		graph: { automation: { ...before.automation, ...trigger }, steps, transitions },
		faults,
	}
}

/** As Postgres stores them. */
const withLowerCaseIds = ({ steps, transitions, ...body }: GraphBody): GraphBody => ({
	...body,
	steps: steps.map((step) => ({ ...step, id: step.id.toLowerCase() })),
	transitions: transitions.map(({ fromStepId, toStepId, ...rest }) => ({
		...rest,
		fromStepId: fromStepId.toLowerCase(),
		toStepId: toStepId.toLowerCase(),
	})),
})

const triggerOf = async (
	db: PoolClient,
	projectId: string,
	{ automation }: Draft,
	{ triggerType = automation.triggerType, triggerConfig }: GraphBody,
): Promise<Partial<TriggerColumns>> =>
	triggerType === automation.triggerType && triggerConfig === undefined
		? {}
		: checkedTrigger(db, projectId, triggerType, triggerConfig ?? {})

/** Adds what a check refuses to the faults. */
async function faultless<T>(
	faults: Fault[],
	check: () => Promise<T>,
	otherwise: T,
	step?: Fault['step'],
): Promise<T> {
	try {
		return await check()
	} catch (error) {
		if (!(error instanceof ApiError) || !error.extras.errors) throw error
		for (const { field, ...fault } of error.extras.errors)
			faults.push({ ...(step && { step }), member: field, ...fault })
		return otherwise
	}
}

async function readStep(projectId: string, before: Draft, given: GraphBody['steps'][number]) {
	const { id, type, name, config = {} } = given
	const step = { id, name }
	const old = before.steps.find((one) => one.id === id)
	const isEmpty = Object.keys(config).length === 0
	const problems = isEmpty ? [] : await configProblems(projectId, type, config, 'config')
	const faults = problems.map(({ field, ...fault }): Fault => ({ step, member: field, ...fault }))
	const custom = (member: string, message: string) =>
		faults.push({ step, member, message, code: 'custom' })
	if (old && old.type !== type) custom('type', `can’t be changed: it is ${old.type}`)
	const stored = faults.length === 0 && !isEmpty ? storedConfig(type, config) : undefined
	const templateId = given.templateId ?? stored?.templateId ?? null
	if (templateId && type !== 'SEND_EMAIL') custom('templateId', 'is for SEND_EMAIL steps only')
	const { x, y } = given.position ?? old ?? { x: 0, y: 0 }
	// A refused configuration has a form that the checks of the whole graph do not expect.
	const known = problems.length > 0 ? {} : (stored?.config ?? config)
	return { step: { id, type, name, x, y, config: known, templateId }, faults }
}

function wholeFaults(steps: GraphStep[]): Fault[] {
	const faults: Fault[] = []
	const ids = new Set<string>()
	for (const { id, name } of steps) {
		const message = 'is also the id of another step'
		if (ids.has(id)) faults.push({ step: { id, name }, member: 'id', message, code: 'custom' })
		ids.add(id)
	}
	if (steps.filter(({ type }) => type === 'TRIGGER').length !== 1)
		faults.push({ member: 'steps', message: 'must have exactly one TRIGGER', code: 'custom' })
	const bytes = steps.reduce((sum, { config }) => sum + JSON.stringify(config).length, 0)
	if (bytes > maxConfigBytes)
		faults.push({
			member: 'steps',
			message: 'must have configurations of at most 1 MB in total',
			code: 'too_big',
		})
	return faults
}

async function templateFaults(db: PoolClient, projectId: string, steps: GraphStep[]) {
	const named = steps.filter(({ templateId }) => templateId !== null)
	const templateIds = named.map(({ templateId }) => templateId!)
	const found = await existingTemplates(db, { projectId, templateIds })
	const existing = new Set(found.map(({ id }) => id))
	return named
		.filter(({ templateId }) => !existing.has(templateId!.toLowerCase()))
		.map(({ id, name }): Fault => ({
			step: { id, name },
			member: 'templateId',
			message: 'names a template that does not exist',
			code: 'custom',
		}))
}

const typeOf = (steps: GraphStep[], id: string) => steps.find((step) => step.id === id)?.type

/** Which branches a step has is checked with the graph as a whole. */
function transitionFaults(steps: GraphStep[], transitions: GraphBody['transitions']): Fault[] {
	const byId = new Map(steps.map((step) => [step.id, step]))
	const taken = new Set<string>()
	return transitions.flatMap(({ fromStepId, toStepId, branch = null }, index): Fault[] => {
		const [from, to] = [byId.get(fromStepId), byId.get(toStepId)]
		const fault = (member: string, message: string): Fault[] => [
			{ member: `transitions.${index}.${member}`, message, code: 'custom' },
		]
		if (!from) return fault('fromStepId', 'is not the id of a step')
		if (!to) return fault('toStepId', 'is not the id of a step')
		if (from.id === to.id) return fault('toStepId', 'must be another step')
		if (from.type === 'EXIT') return fault('fromStepId', 'is an EXIT, which has no next step')
		if (to.type === 'TRIGGER') return fault('toStepId', 'is the TRIGGER, to which no step leads')
		const way = `${from.id} ${branch ?? branchesOf(from)?.[0] ?? ''}`
		if (taken.has(way)) return fault('branch', 'already leads to a step')
		taken.add(way)
		return []
	})
}
