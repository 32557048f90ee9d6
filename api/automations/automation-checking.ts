import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { graphFaults } from '../../db/automations/automation-graph.ts'
import { countExecutionsUpTo, passageOf } from '../../db/automations/automation-usage.ts'
import { transactional } from '../../db/transaction.ts'
import { Component, Id, PathId } from '../schemas.ts'
import { draftOf, foundAutomation } from './automation-editing.ts'
import { viewOfFault } from './automation-graphs.ts'
import { Check } from './automation-views.ts'
import { warningsOf } from './automation-warnings.ts'

const tags = ['workflows']
const config = { auth: 'secret key or session' } as const
const Params = Type.Object({ id: PathId('workflow') })
const oneSnapshot = 'set transaction isolation level repeatable read, read only'

/** Reading the visits of so many takes some 0.1 s. */
const newestExecutions = 10_000

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
					const draft = await draftOf(em, db, { projectId: project.id, automationId: params.id })
					const errors = graphFaults(draft).map(viewOfFault)
					const warnings = await warningsOf(db, project.id, draft)
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
			const [[counted], steps] = await Promise.all([
				countExecutionsUpTo(pool, { ...key, executions: newestExecutions + 1 }),
				passageOf(pool, { ...key, executions: newestExecutions }),
			])
			const { count } = counted!
			const isWhole = count <= newestExecutions
			return { executions: Math.min(count, newestExecutions), isWhole, steps }
		},
	)
}
