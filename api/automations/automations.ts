import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { copyGraph, graphSize, insertStep } from '../../db/automations/automation-graph-records.ts'
import { limitCopies } from '../../db/automations/automation-limits.ts'
import {
	type AutomationRecord,
	deleteAutomation,
	insertAutomation,
	lockAutomation,
	lockAutomationToDelete,
	updateAutomation,
} from '../../db/automations/automation-records.ts'
import { countActive, countActiveAtSteps } from '../../db/automations/automation-usage.ts'
import { triggerTypes } from '../../db/automations/automation.ts'
import { transactional } from '../../db/transaction.ts'
import { copyName } from '../copy-name.ts'
import { ApiError, invalid } from '../errors.ts'
import { EventName } from '../events/event-names.ts'
import { tooMany } from '../requests/minute-counts.ts'
import { about, Body, Name, Nullable, PathId } from '../schemas.ts'
import { draftOf, edit, existing } from './automation-editing.ts'
import { checkedEventName, checkedTrigger, TriggerConfig } from './automation-trigger.ts'
import { Automation, Changed, Detailed, viewOfAutomation, viewOfDraft } from './automation-views.ts'

const reentry = 'Let a contact enter again once its execution has ended.'
const Description = Type.Optional(
	about('A note of your own.', Nullable(Type.String({ maxLength: 500 }))),
)

const tags = ['workflows']
const auth = 'secret key or session'
export const Params = Type.Object({ id: PathId('workflow') })
const oneSnapshot = 'set transaction isolation level repeatable read, read only'

export const automations: FastifyPluginAsyncTypebox = async (app) => {
	app.post(
		'/workflows',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Create a workflow',
				description:
					'A new workflow starts with an event, is not enabled, and has one step: the trigger.',
				body: Type.Object(
					{
						name: Name,
						eventName: Type.Optional(
							about(
								'The event that starts an execution. Required here or in triggerConfig.',
								EventName,
							),
						),
						triggerConfig: Type.Optional(
							Type.Object(
								{ eventName: Type.Optional(EventName) },
								{
									additionalProperties: false,
									description: 'Another way to give the name of the event.',
								},
							),
						),
						description: Description,
						allowReentry: Type.Boolean({ default: false, description: reentry }),
					},
					{ examples: [{ name: 'Onboarding', eventName: 'signup' }] },
				),
				response: { 201: Automation },
			},
		},
		async ({ em, project, body }, reply) => {
			const given = body.eventName ?? body.triggerConfig?.eventName
			if (given === undefined)
				throw invalid({ field: 'eventName', message: 'is required', code: 'required' })
			const eventName = checkedEventName(given, 'eventName')
			const { name, description = null, allowReentry } = body
			const created = await transactional(em, async (em) => {
				const projectId = project.id
				const values = { projectId, name, description, eventName, allowReentry }
				const automation = await insertAutomation(em, values)
				const trigger = { type: 'TRIGGER', name: 'Trigger' } as const
				await insertStep(em, { projectId, automationId: automation.id, ...trigger })
				return automation
			})
			return reply.code(201).send(viewOfAutomation(created))
		},
	)

	app.get(
		'/workflows/:id',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get a workflow with its steps and transitions',
				description:
					'Returns the draft, with the number of contacts at each step. Executions run the version that was frozen when the workflow was enabled.',
				params: Params,
				response: { 200: Detailed },
			},
		},
		async ({ em, project, params }) =>
			transactional(
				em,
				async (em, db) => {
					const key = { projectId: project.id, automationId: params.id }
					const draft = await draftOf(em, db, key)
					const counted = await countActiveAtSteps(db, key)
					return viewOfDraft(draft, new Map(counted.map((step) => [step.stepId, step.active])))
				},
				oneSnapshot,
			),
	)

	app.patch(
		'/workflows/:id',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Change a workflow, enable or disable it',
				description:
					'Enabling checks the whole workflow and freezes a version. Executions keep the version they started with. Disabling stops only new executions.',
				params: Params,
				body: Body(
					{ enabled: true },
					{
						name: Type.Optional(Name),
						description: Description,
						enabled: Type.Optional(Type.Boolean({ description: 'Whether new executions start.' })),
						triggerType: Type.Optional(
							about(
								'EVENT: an event of a contact. SCHEDULE: a cron expression. MANUAL: only your own calls.',
								Type.Enum([...triggerTypes]),
							),
						),
						triggerConfig: Type.Optional(
							about('Required with a new triggerType, except MANUAL.', Nullable(TriggerConfig)),
						),
						allowReentry: Type.Optional(Type.Boolean({ description: reentry })),
					},
				),
				response: { 200: Changed },
			},
		},
		async (request) => {
			const { project, params, body } = request
			if ('eventName' in body)
				throw invalid({
					field: 'eventName',
					message: 'is not known here: use triggerConfig',
					code: 'unrecognized_keys',
				})
			const { draft, warnings } = await edit(request, params.id, async (em, before, db) => {
				const { triggerType = before.triggerType, triggerConfig } = body
				const isSame = triggerType === before.triggerType && triggerConfig === undefined
				const trigger = isSame
					? {}
					: await checkedTrigger(db, project.id, triggerType, triggerConfig ?? {})
				const { name, description, enabled, allowReentry } = body
				const changes = { name, description, enabled, allowReentry, ...trigger }
				await updateAutomation(em, { projectId: project.id, automationId: params.id }, changes)
			})
			return { ...viewOfAutomation(draft.automation), warnings }
		},
	)

	app.delete(
		'/workflows/:id',
		{
			config: { auth, errors: [409] },
			schema: {
				tags,
				summary: 'Delete a workflow',
				description:
					'Refused with 409 while an execution is active. Executions that have ended are deleted with it.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ em, project, params }, reply) => {
			const key = { projectId: project.id, automationId: params.id }
			await transactional(em, async (em, db) => {
				existing(await lockAutomationToDelete(em, key), params.id)
				const [executions] = await countActive(db, key)
				if (executions!.active > 0) throw stillActive(executions!.active)
				await deleteAutomation(db, key)
			})
			return reply.code(204).send(null)
		},
	)

	app.post(
		'/workflows/:id/duplicate',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Copy a workflow',
				description:
					'The copy has the same steps and transitions, and is not enabled. In an hour a project gets at most 1,000 copies, and fewer of large workflows: 100 of 1 MB.',
				params: Params,
				response: { 201: Automation },
			},
		},
		async ({ em, project, params }, reply) => {
			const projectId = project.id
			const copy = await transactional(em, async (em, db) => {
				const original = existing(
					await lockAutomation(em, { projectId, automationId: params.id }),
					params.id,
				)
				const key = { projectId, automationId: original.id }
				const [size] = await graphSize(db, key)
				const waitSeconds = await limitCopies(db, projectId, size!.configBytes)
				if (waitSeconds !== null)
					throw tooMany('This project has copied many workflows in the last hour', waitSeconds)
				const made = await insertAutomation(em, copyOf(original))
				await copyGraph(db, {
					projectId,
					fromAutomationId: original.id,
					toAutomationId: made.id,
				})
				return made
			})
			return reply.code(201).send(viewOfAutomation(copy))
		},
	)
}

/** The copy is disabled and has no version. */
const copyOf = (original: AutomationRecord) => {
	const {
		id: _,
		enabled: _e,
		currentVersion: _v,
		createdAt: _c,
		updatedAt: _u,
		scheduledSince: _s,
		...columns
	} = original
	return { ...columns, name: copyName(original.name) }
}

const stillActive = (activeExecutions: number) =>
	new ApiError(409, 'CONFLICT', 'This workflow has active executions', {
		details: { activeExecutions },
		suggestion:
			'Cancel them with POST /workflows/{id}/executions/cancel-all, or let them complete.',
	})
