import { type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@fastify/type-provider-typebox'
import { replaceSteps, replaceTransitions } from '../../db/automations/automation-graph-records.ts'
import { graphFaults } from '../../db/automations/automation-graph.ts'
import { updateAutomation } from '../../db/automations/automation-records.ts'
import { transactional } from '../../db/transaction.ts'
import { invalid } from '../errors.ts'
import { PathId } from '../schemas.ts'
import { refuseChanged } from '../requests/read-version.ts'
import { draftOf, edit, fieldError } from './automation-editing.ts'
import { type Fault, GraphBody, readGraph } from './automation-graph-bodies.ts'
import { Changed, Check, viewOfAutomation } from './automation-views.ts'
import { warningsOf } from './automation-warnings.ts'

const tags = ['workflows']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('workflow') })
const maxErrors = 100

/** For editors, which change several steps and transitions at once. */
export const automationGraphs: FastifyPluginAsyncTypebox = async (app) => {
	app.put(
		'/workflows/:id/graph',
		{
			config: { auth, errors: [404, 409], ifMatch: true },
			schema: {
				tags,
				summary: 'Replace the trigger, steps and transitions of a workflow',
				description:
					'All changes together make one new version of an enabled workflow, so no execution starts in between. Steps that you leave out are deleted; executions that are at them continue with their own version. With the header `If-Match: "<updatedAt>"`, a workflow that has changed since is refused (409).',
				params: Params,
				body: GraphBody,
				response: { 200: Changed },
			},
		},
		async (request) => {
			const { project, params, body } = request
			const key = { projectId: project.id, automationId: params.id }
			const { draft, warnings } = await edit(request, params.id, async (em, before, db) => {
				refuseChanged(request, 'workflow', before)
				const { trigger, graph, faults } = await readGraph(
					db,
					project.id,
					await draftOf(em, db, key),
					body,
				)
				if (faults.length > 0) throw invalid(...faults.slice(0, maxErrors).map(fieldError))
				const { allowReentry } = body
				await updateAutomation(em, key, { ...trigger, allowReentry })
				await replaceSteps(db, { ...key, steps: graph.steps })
				await replaceTransitions(db, { ...key, transitions: graph.transitions })
			})
			return { ...viewOfAutomation(draft.automation), warnings }
		},
	)

	app.post(
		'/workflows/:id/graph/validate',
		{
			config: { auth, errors: [404] },
			schema: {
				tags,
				summary: 'Check a graph that is not stored yet',
				description:
					'Finds what PUT /workflows/{id}/graph or enabling would refuse, step by step. Changes nothing.',
				params: Params,
				body: GraphBody,
				response: { 200: Check },
			},
		},
		({ em, project, params, body }) =>
			transactional(em, async (em, db) => {
				const key = { projectId: project.id, automationId: params.id }
				const before = await draftOf(em, db, key)
				const { graph, faults } = await readGraph(db, project.id, before, body)
				const refused = new Set(faults.map(({ step }) => step?.id))
				// The ways of a step depend on its configuration.
				const ofWhole = graphFaults(graph).filter(({ step }) => !step || !refused.has(step.id))
				const errors = [...faults, ...ofWhole].map(viewOfFault)
				const warnings = await warningsOf(db, key, graph)
				return { isValid: errors.length === 0, errors, warnings }
			}),
	)
}

export const viewOfFault = ({ step, member, message, code }: Fault) => ({
	stepId: step?.id ?? null,
	name: step?.name ?? null,
	field: member,
	message,
	code,
})
