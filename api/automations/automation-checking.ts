import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { graphFaults } from '../../db/automations/automation-graph.ts'
import { countExecutionsUpTo, passageOf } from '../../db/automations/automation-usage.ts'
import { scanWithin } from '../../db/timed-reading.ts'
import { transactional } from '../../db/transaction.ts'
import { tooMuchToRead } from '../errors.ts'
import { Component, Id, PathId } from '../schemas.ts'
import { draftOf, foundAutomation } from './automation-editing.ts'
import { viewOfFault } from './automation-graphs.ts'
import { Check } from './automation-views.ts'
import { warningsOf } from './automation-warnings.ts'

const tags = ['workflows']
const config = { auth: 'secret key or session' } as const
const Params = Type.Object({ id: PathId('workflow') })
const oneSnapshot = 'set transaction isolation level repeatable read, read only'

/** Reading their visits takes 0.1 s if they are few, and seconds if each is a hundred. */
const newestExecutions = 10_000
const mostMs = 5000

const tooSlow = () =>
	tooMuchToRead(
		'Counting the executions takes too long',
		'Ask again when the database has less to do.',
	)

const Passage = Component('WorkflowPassage', {
	executions: Type.Integer({ description: 'How many executions were read.' }),
	isWhole: Type.Boolean({ description: 'Whether these are all.' }),
	steps: Type.Array(
		Component('StepPassage', {
			stepId: Id,
			entered: Type.Integer({ description: 'How many have been at the step.' }),
			passed: Type.Integer({ description: 'How many have completed it.' }),
			failed: Type.Integer({ description: 'How many have failed at it.' }),
		}),
	),
})

/** For the editor of workflows: what is wrong with one, and how it is used. */
export const automationChecking: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.post(
		'/workflows/:id/validate',
		{
			config,
			schema: {
				tags,
				summary: 'Check a workflow before it is enabled',
				description: 'Finds what enabling would refuse, step by step. Changes nothing.',
				params: Params,
				response: { 200: Check },
			},
		},
		({ em, project, params }) =>
			transactional(
				em,
				async (em, db) => {
					const key = { projectId: project.id, automationId: params.id }
					const draft = await draftOf(em, db, key)
					const errors = graphFaults(draft).map(viewOfFault)
					const warnings = await warningsOf(db, key, draft)
					return { isValid: errors.length === 0, errors, warnings }
				},
				oneSnapshot,
			),
	)

	app.get(
		'/workflows/:id/passage',
		{
			config,
			schema: {
				tags,
				summary: 'Count how far executions have come',
				description: `Of the newest ${newestExecutions.toLocaleString('en')} executions, in all versions: how many have been at each step, completed it and failed at it. GET /workflows/{id} says how many are at each step now.`,
				params: Params,
				response: { 200: Passage },
			},
		},
		async ({ em, project, params }) => {
			const key = { projectId: project.id, automationId: params.id }
			await foundAutomation(em, key)
			const read = await scanWithin(pool, project.id, mostMs, async (db) => ({
				counted: await countExecutionsUpTo(db, { ...key, executions: newestExecutions + 1 }),
				steps: await passageOf(db, { ...key, executions: newestExecutions }),
			}))
			if (!read) throw tooSlow()
			const { counted, steps } = read
			const { count } = counted[0]!
			const isWhole = count <= newestExecutions
			return { executions: Math.min(count, newestExecutions), isWhole, steps }
		},
	)
}
