import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyRequest } from 'fastify'
import type { PoolClient } from 'pg'
import { freeze } from '../../db/automations/automation-freezing.ts'
import { stepsOf, transitionsOf } from '../../db/automations/automation-graph-records.ts'
import { type Draft, type GraphFault, graphFaults } from '../../db/automations/automation-graph.ts'
import {
	type AutomationRecord,
	findAutomation,
	lockAutomation,
	updateAutomation,
} from '../../db/automations/automation-records.ts'
import type { AutomationKey } from '../../db/automations/automation-schedules.ts'
import { type FieldError, invalid, notFound } from '../errors.ts'
import { withAccess } from '../projects/administering.ts'
import { tooMany } from '../requests/minute-counts.ts'
import { warningsOf } from './automation-warnings.ts'

/**
 * A change of an automation, its steps or its transitions. Concurrent changes run one after the other. An
 * enabled automation is checked as a whole with the change, and frozen into a new version; if the check
 * fails, or there are too many versions, nothing is changed.
 */
export function edit<T>(
	request: FastifyRequest,
	id: string,
	change: (em: EntityManager, automation: AutomationRecord, db: PoolClient) => Promise<T>,
) {
	return withAccess(request, async (em, db, projectId) => {
		const key = { projectId, automationId: id }
		const automation = existing(await lockAutomation(em, key), id)
		const changed = await change(em, automation, db)
		await updateAutomation(em, key)
		const draft = await draftOf(em, db, key)
		if (!draft.automation.enabled) return { changed, draft, warnings: [] }
		const faults = graphFaults(draft)
		if (faults.length > 0) throw invalid(...faults.map(fieldError))
		const waitSeconds = await freeze(db, draft)
		if (waitSeconds !== null)
			throw tooMany('This workflow has had too many changes in the last hour', waitSeconds)
		const frozen = await foundAutomation(em, key)
		const warnings = await warningsOf(db, key, draft)
		return { changed, draft: { ...draft, automation: frozen }, warnings }
	})
}

/** A consistent state of all three tables requires the lock or one snapshot. */
export async function draftOf(em: EntityManager, db: PoolClient, key: AutomationKey) {
	const automation = await foundAutomation(em, key)
	const steps = await stepsOf(db, key)
	const transitions = await transitionsOf(db, key)
	return { automation, steps, transitions } satisfies Draft
}

export const foundAutomation = async (em: EntityManager, key: AutomationKey) =>
	existing(await findAutomation(em, key), key.automationId)

export function existing(automation: AutomationRecord | undefined, id: string) {
	if (!automation) throw notFound('workflow', id)
	return automation
}

export function fieldError({
	step,
	member,
	message,
	code,
}: Omit<GraphFault, 'code'> & Pick<FieldError, 'code'>): FieldError {
	if (!step) return { field: member, message, code }
	const field = ['steps', step.id, ...(member === '' ? [] : [member])].join('.')
	return { field, message: `of the step "${step.name}" ${message}`, code }
}
