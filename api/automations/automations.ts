import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { copyGraph, insertStep } from '../../db/automations/automation-graph-records.ts'
import {
	type AutomationRecord,
	copyAutomation,
	deleteAutomation,
	insertAutomation,
	lockAutomation,
	lockAutomationToDelete,
	updateAutomation,
} from '../../db/automations/automation-records.ts'
import { countActive, countActiveAtSteps } from '../../db/automations/automation-usage.ts'
import { triggerTypes } from '../../db/automations/automation.ts'
import { transaction } from '../../db/transaction.ts'
import { copyName } from '../copy-name.ts'
import { ApiError, invalid } from '../errors.ts'
import { EventName } from '../events/event-names.ts'
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

export const automations: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/workflows',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Create a workflow',
				description: 'It begins with an event, is not enabled, and has one step: the trigger.',
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
									description: 'Another place for the name of the event.',
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
		async ({ project, body }, reply) => {
			const given = body.eventName ?? body.triggerConfig?.eventName
			if (given === undefined)
				throw invalid({ field: 'eventName', message: 'is required', code: 'required' })
			const eventName = checkedEventName(given, 'eventName')
			const { name, description = null, allowReentry } = body
			const created = await transaction(pool, async (db) => {
				const values = [project.id, name, description, eventName, allowReentry]
				const [automation] = (await insertAutomation(db, values)) as [AutomationRecord]
				await insertStep(db, [project.id, automation.id, 'TRIGGER', 'Trigger', 0, 0, '{}', null])
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
					'The draft, as it is edited, with the number of people at each step. Executions run the version that was frozen when the workflow was enabled.',
				params: Params,
				response: { 200: Detailed },
			},
		},
		async ({ project, params }) =>
			transaction(
				pool,
				async (db) => {
					const draft = await draftOf(db, project.id, params.id)
					const counted = await countActiveAtSteps(db, [project.id, params.id])
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
					'Enabling checks it as a whole and freezes a version. Executions keep the version they began with; disabling stops new ones only.',
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
		async ({ project, params, body }) => {
			const { draft, warnings } = await edit(pool, project.id, params.id, async (db, before) => {
				const { triggerType = before.triggerType, triggerConfig } = body
				const isSame = triggerType === before.triggerType && triggerConfig === undefined
				const trigger = isSame
					? before
					: await checkedTrigger(db, project.id, triggerType, triggerConfig ?? {})
				const { name = before.name, description = before.description } = body
				const { enabled = before.enabled, allowReentry = before.allowReentry } = body
				await updateAutomation(db, [
					project.id,
					params.id,
					name,
					description,
					enabled,
					triggerType,
					trigger.eventName,
					trigger.schedule,
					trigger.timezone,
					trigger.segmentId,
					allowReentry,
				])
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
				description: 'Only when none of its executions is active; the others go with it.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params }, reply) => {
			const key = [project.id, params.id]
			await transaction(pool, async (db) => {
				existing(await lockAutomationToDelete(db, key), params.id)
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
				description: 'With its steps and transitions; the copy is not enabled.',
				params: Params,
				response: { 201: Automation },
			},
		},
		async ({ project, params }, reply) => {
			const copy = await transaction(pool, async (db) => {
				const { name } = existing(await lockAutomation(db, [project.id, params.id]), params.id)
				const [made] = await copyAutomation(db, [project.id, params.id, copyName(name)])
				await copyGraph(db, [project.id, params.id, made!.id])
				return made!
			})
			return reply.code(201).send(viewOfAutomation(copy))
		},
	)
}

const stillActive = (activeExecutions: number) =>
	new ApiError(409, 'CONFLICT', 'This workflow has active executions', {
		details: { activeExecutions },
		suggestion:
			'Cancel them with POST /workflows/{id}/executions/cancel-all, or let them complete.',
	})
