import type { PoolClient } from 'pg'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import { upsertContact } from '../../db/contacts/contact-writing.ts'
import { emitAs } from '../../db/executions/execution-advancing.ts'
import { dataProblems, splitData } from '../../db/contacts/contact-data.ts'
import { isTemplateError } from '../../mail/liquid/liquid.ts'
import { perform } from '../../mail/rendering.ts'
import { linksFor } from '../../mail/liquid/variables.ts'
import { type Journey, take, variablesOf } from './journey.ts'

/**
 * Writes a step's changes to the contact, under the same rules as a request. A real change of the
 * subscription gets an event. Returns a reason if the execution can't continue.
 */
export async function updateContact(
	db: PoolClient,
	journey: Journey,
	step: Step<'UPDATE_CONTACT'>,
	publicUrl: string,
): Promise<string | null> {
	const { key, contact } = journey
	const { data, subscribed } = step.config
	const variables = variablesOf(journey, linksFor(publicUrl, contact.id))
	let rendered: Record<string, unknown>
	try {
		const value = await perform(key.projectId, 'deep', { value: data, variables })
		rendered = value as Record<string, unknown>
	} catch (error) {
		if (!isTemplateError(error)) throw error
		return `InvalidData: a template cannot be read: ${error.message}`
	}
	const [problem] = dataProblems(rendered)
	if (problem) return `InvalidData: ${problem.field} ${problem.message}`
	const { stored, removed } = splitData(rendered)
	// The contact exists, and this transaction holds the same lock. Writers of events that are not yet
	// processed may hold it too. A stronger lock would wait for them while they wait for us.
	if (subscribed !== null && subscribed !== contact.subscribed)
		await emitAs(db, { executionId: key.executionId })
	const values = {
		projectId: key.projectId,
		email: contact.email,
		subscribed,
		data: stored,
		removedKeys: removed,
	}
	const [written] = await upsertContact(db, values)
	if (!written!.fits) return 'InvalidData: the data of the contact would exceed 64 KB in total'
	journey.contact = written!
	const gone = Object.fromEntries(removed.map((name) => [name, null]))
	const output = { data: { ...stored, ...gone }, subscribed: written!.subscribed }
	take(journey, step, 'COMPLETED', { output })
	return null
}
