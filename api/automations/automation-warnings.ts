import type { PoolClient } from 'pg'
import { latestEnrolment } from '../../db/automations/enrolment-course.ts'
import { type Graph, unreachableSteps } from '../../db/automations/automation-graph.ts'
import type { AutomationKey } from '../../db/automations/automation-schedules.ts'
import { segmentsOfEvents } from '../../db/segments/segment-usage.ts'
import { marketingAmong } from '../../db/templates/template-usage.ts'

/** A step of an enabled workflow, and what it will not do in its current form. */
export interface Warning {
	stepId: string
	name: string
	message: string
}

/** Warnings: legal in a workflow, but probably a mistake. */
export async function warningsOf(
	db: PoolClient,
	key: AutomationKey,
	draft: Graph,
): Promise<Warning[]> {
	const { projectId } = key
	return [
		...unreachableSteps(draft).map((step) =>
			warning(step, `The step "${step.name}" can’t be reached from the trigger`),
		),
		...circleWarnings(draft),
		...(await enrolmentWarnings(db, key, draft)),
		...(await segmentWarnings(db, projectId, draft)),
		...(await marketingWarnings(db, projectId, draft)),
	]
}

type Named = { id: string; name: string }

const warning = ({ id, name }: Named, message: string): Warning => ({ stepId: id, name, message })

const triggerAmong = (steps: Graph['steps']) => steps.find(({ type }) => type === 'TRIGGER')

/** The workflow would start itself, but executions prevent that: see `automations_behind`. */
function circleWarnings({ automation: { eventName }, steps }: Graph) {
	if (eventName === null) return []
	const isOfMail = eventName.startsWith('email.') && eventName !== 'email.received'
	const flips = { 'contact.subscribed': true, 'contact.unsubscribed': false }[eventName]
	const emits = ({ type, config }: Graph['steps'][number]) =>
		(isOfMail && type === 'SEND_EMAIL') ||
		(flips !== undefined && type === 'UPDATE_CONTACT' && config['subscribed'] === flips)
	const trigger = triggerAmong(steps)
	if (!trigger || !steps.some(emits)) return []
	const message = `This workflow starts with the event "${eventName}" and also causes it. Events that it causes, directly or through other workflows, don't start it again`
	return [warning(trigger, message)]
}

/** The latest scheduled run could not enrol its whole audience. */
async function enrolmentWarnings(
	db: PoolClient,
	{ projectId, automationId }: AutomationKey,
	{ automation, steps }: Graph,
) {
	const trigger = triggerAmong(steps)
	if (!trigger || automation.triggerType !== 'SCHEDULE') return []
	const [latest] = await latestEnrolment(db, { projectId, automationId })
	if (!latest?.error) return []
	const message = `The scheduled run of ${latest.scheduledFor.toISOString()} ended before it had started executions for all contacts: ${latest.error}`
	return [warning(trigger, message)]
}

/** Events of a segment that was deleted or renamed never happen. */
async function segmentWarnings(db: PoolClient, projectId: string, { automation, steps }: Graph) {
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

/** A reader who is not a contact can't unsubscribe. */
async function marketingWarnings(db: PoolClient, projectId: string, { steps }: Graph) {
	const mails = steps.flatMap((step) => {
		const { type, config, templateId } = step
		const recipient = config['recipient'] as { type?: string } | undefined
		return type === 'SEND_EMAIL' && recipient?.type === 'CUSTOM' && templateId
			? [{ step, templateId }]
			: []
	})
	if (mails.length === 0) return []
	const templateIds = mails.map(({ templateId }) => templateId)
	const marketing = new Set(
		(await marketingAmong(db, { projectId, templateIds })).map(({ id }) => id),
	)
	return mails
		.filter(({ templateId }) => marketing.has(templateId))
		.map(({ step }) =>
			warning(
				step,
				`The step "${step.name}" sends a MARKETING template to an address of its own. If no contact has that address, the mail has no unsubscribe link. Use a TRANSACTIONAL template for notices to your team`,
			),
		)
}
