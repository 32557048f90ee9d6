import type { Pool, PoolClient } from 'pg'
import { freeze } from '../../db/automations/automation-freezing.ts'
import { stepsOf, transitionsOf } from '../../db/automations/automation-graph-records.ts'
import { type Draft, type GraphFault, graphFaults } from '../../db/automations/automation-graph.ts'
import {
	type AutomationRecord,
	findAutomation,
	lockAutomation,
	touchAutomation,
} from '../../db/automations/automation-records.ts'
import { transaction } from '../../db/transaction.ts'
import { type FieldError, invalid, notFound } from '../errors.ts'
import { warningsOf } from './automation-warnings.ts'

/**
 * A change to an automation, its steps or its transitions: of several at once each sees what the one
 * before has done. An enabled one is checked as a whole with the change in it, and frozen into a new
 * version; where that cannot be, nothing is changed.
 */
export function edit<T>(
	pool: Pool,
	projectId: string,
	id: string,
	change: (db: PoolClient, automation: AutomationRecord) => Promise<T>,
) {
	return transaction(pool, async (db) => {
		const automation = existing(await lockAutomation(db, [projectId, id]), id)
		const changed = await change(db, automation)
		await touchAutomation(db, [projectId, id])
		const draft = await draftOf(db, projectId, id)
		if (!draft.automation.enabled) return { changed, draft, warnings: [] }
		const faults = graphFaults(draft)
		if (faults.length > 0) throw invalid(...faults.map(fieldError))
		await freeze(db, draft)
		const [frozen] = await findAutomation(db, [projectId, id])
		const warnings = await warningsOf(db, projectId, draft)
		return { changed, draft: { ...draft, automation: frozen! }, warnings }
	})
}

/** One state of all three tables only under the lock, or in one snapshot. */
export async function draftOf(db: PoolClient, projectId: string, id: string) {
	const automation = existing(await findAutomation(db, [projectId, id]), id)
	const steps = await stepsOf(db, [projectId, id])
	const transitions = await transitionsOf(db, [projectId, id])
	return { automation, steps, transitions } satisfies Draft
}

export function existing(rows: AutomationRecord[], id: string): AutomationRecord {
	if (!rows[0]) throw notFound('workflow', id)
	return rows[0]
}

function fieldError({ step, member, message, code }: GraphFault): FieldError {
	if (!step) return { field: member, message, code }
	const field = ['steps', step.id, ...(member === '' ? [] : [member])].join('.')
	return { field, message: `of the step "${step.name}" ${message}`, code }
}
