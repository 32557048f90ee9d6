import type { PoolClient } from 'pg'
import { type Draft, unreachableSteps } from '../../db/automations/automation-graph.ts'
import { segmentsOfEvents } from '../../db/segments/segment-usage.ts'

/** A step of an enabled workflow, and what it will not do as it is. */
export interface Warning {
	stepId: string
	name: string
	message: string
}

/** What is legal in a workflow but probably not meant. */
export async function warningsOf(
	db: PoolClient,
	projectId: string,
	draft: Draft,
): Promise<Warning[]> {
	return [
		...unreachableSteps(draft).map((step) =>
			warning(step, `No way leads from the trigger to the step "${step.name}"`),
		),
		...circleWarnings(draft),
		...(await segmentWarnings(db, projectId, draft)),
	]
}

type Named = { id: string; name: string }

const warning = ({ id, name }: Named, message: string): Warning => ({ stepId: id, name, message })

/** It would start itself, if executions were not kept from it: see `automations_behind`. */
function circleWarnings({ automation: { eventName }, steps }: Draft) {
	if (eventName === null) return []
	const isOfMail = eventName.startsWith('email.') && eventName !== 'email.received'
	const flips = { 'contact.subscribed': true, 'contact.unsubscribed': false }[eventName]
	const emits = ({ type, config }: Draft['steps'][number]) =>
		(isOfMail && type === 'SEND_EMAIL') ||
		(flips !== undefined && type === 'UPDATE_CONTACT' && config['subscribed'] === flips)
	const trigger = steps.find(({ type }) => type === 'TRIGGER')
	if (!trigger || !steps.some(emits)) return []
	const message = `This workflow starts with "${eventName}" and causes it, too. Events that it causes, itself or through other workflows, don't start it again`
	return [warning(trigger, message)]
}

/** Events of a segment that is not there, or no longer called so, never happen. */
async function segmentWarnings(db: PoolClient, projectId: string, { automation, steps }: Draft) {
	const waits = steps.flatMap((step) => {
		const eventName = step.type === 'TRIGGER' ? automation.eventName : step.config['eventName']
		const isHeard = step.type === 'TRIGGER' || step.type === 'WAIT_FOR_EVENT'
		return isHeard && typeof eventName === 'string' ? [{ step, eventName }] : []
	})
	const segments = await segmentsOfEvents(
		db,
		projectId,
		waits.map(({ eventName }) => eventName),
	)
	return waits.flatMap(({ step, eventName }) => {
		const segment = segments.get(eventName)
		if (segment === undefined || segment?.trackMembership) return []
		const problem = segment
			? `The segment "${segment.name}" does not track its members, so "${eventName}" never happens. Turn trackMembership on`
			: `No segment has the event "${eventName}". Its name is segment.<name of the segment>.entry or .exit`
		return [warning(step, problem)]
	})
}
