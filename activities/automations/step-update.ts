import type { PoolClient } from 'pg'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import { upsertContact } from '../../db/contacts/contact-writing.ts'
import { emitAs } from '../../db/executions/execution-advancing.ts'
import { dataProblems, splitData } from '../rendering/contact-data.ts'
import { isTemplateError } from '../rendering/liquid.ts'
import { perform } from '../rendering/rendering.ts'
import { linksFor } from '../rendering/variables.ts'
import { type Journey, take, variablesOf } from './journey.ts'

/**
 * Writes what a step sets into the contact, by the rules that a request has to keep; a real flip of the
 * subscription has its event. Answers what keeps the execution from going on.
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
	// It is there, locked as this locks it. Whoever else has told of it an event that is yet to be heard
	// holds it already: a stronger lock would wait for them, who wait for us.
	if (subscribed !== null && subscribed !== contact.subscribed) await emitAs(db, [key.executionId])
	const values = [key.projectId, contact.email, subscribed, JSON.stringify(stored), removed]
	const [written] = await upsertContact(db, values)
	if (!written!.fits) return 'InvalidData: the data of the contact would exceed 64 KB in total'
	journey.contact = written!
	const gone = Object.fromEntries(removed.map((name) => [name, null]))
	const output = { data: { ...stored, ...gone }, subscribed: written!.subscribed }
	take(journey, step, 'COMPLETED', { output })
	return null
}
