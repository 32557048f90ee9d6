import { createHash } from 'node:crypto'
import type { PoolClient } from 'pg'
import { statement } from '../statement.ts'
import type {
	AutomationDefinition,
	DefinedStep,
	StepConfigs,
	StepType,
	Trigger,
} from './automation-definition.ts'
import type { StepRecord } from './automation-graph-records.ts'
import type { Draft } from './automation-graph.ts'
import type { AutomationRecord } from './automation-records.ts'

/**
 * A new version, unless the one that is current says the same. $1 project, $2 automation,
 * $3 definition, $4 hash, $5 positions, $6 names of the events it starts with or waits for
 */
const freezeVersion = statement(
	'freeze-automation-version',
	`with version as (
		insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select $1, a.id, coalesce((select max(v.version) from automation_versions v
				where v.project_id = $1 and v.automation_id = a.id), 0) + 1,
			$3::jsonb, $4::text, $5::jsonb
		from automations a
		where a.project_id = $1 and a.id = $2::uuid and not exists (
			select from automation_versions v where v.project_id = $1 and v.automation_id = a.id
				and v.version = a.current_version and v.hash = $4::text)
		returning version
	), names as (
		insert into automation_event_names (project_id, name, automation_id)
		select $1, name, $2::uuid from version, unnest($6::text[]) as name
		on conflict do nothing
	)
	update automations a set current_version = version.version from version
	where a.project_id = $1 and a.id = $2::uuid`,
)

/** Makes the draft, in which there is no fault, what executions run by from now on. */
export async function freeze(db: PoolClient, draft: Draft) {
	const definition = definitionOf(draft)
	const { projectId, id } = draft.automation
	const json = JSON.stringify(definition)
	const positions = Object.fromEntries(draft.steps.map((step) => [step.id, step.position]))
	await freezeVersion(db, [
		projectId,
		id,
		json,
		createHash('sha256').update(json).digest('hex'),
		JSON.stringify(positions),
		eventNamesIn(definition),
	])
}

/** In an order that does not depend on how the draft came to be, so that equal ones hash alike. */
function definitionOf({ automation, steps, transitions }: Draft): AutomationDefinition {
	const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
	const ends = (t: AutomationDefinition['transitions'][number]) =>
		JSON.stringify([t.fromStepId, t.branch, t.toStepId])
	return {
		trigger: triggerOf(automation),
		allowReentry: automation.allowReentry,
		steps: steps.toSorted(byId).map(definedStep),
		transitions: transitions
			.map(({ fromStepId, toStepId, branch, priority }) => ({
				fromStepId,
				toStepId,
				branch,
				priority,
			}))
			.toSorted((a, b) => (ends(a) < ends(b) ? -1 : 1)),
	}
}

function triggerOf({ triggerType, ...columns }: AutomationRecord): Trigger {
	const { eventName, schedule, timezone, segmentId } = columns
	if (triggerType === 'MANUAL') return { type: 'MANUAL' }
	if (triggerType === 'EVENT') return { type: 'EVENT', eventName: eventName! }
	return { type: 'SCHEDULE', schedule: schedule!, timezone: timezone!, segmentId }
}

/** What the draft's configuration leaves out. */
const defaults: { [Type in StepType]: Partial<StepConfigs[Type]> } = {
	TRIGGER: {},
	SEND_EMAIL: { recipient: { type: 'CONTACT' } },
	DELAY: {},
	WAIT_FOR_EVENT: { timeout: null, since: 'step' },
	CONDITION: {},
	WEBHOOK: { method: 'POST', headers: {}, body: null, retryFor: 3600, continueOnError: false },
	UPDATE_CONTACT: { data: {}, subscribed: null },
	EXIT: { reason: null },
}

function definedStep({ id, type, name, config, templateId }: StepRecord) {
	// A draft without faults has the configuration of its type: it was checked when it was written.
	return { id, type, name, config: { ...defaults[type], ...config }, templateId } as DefinedStep
}

function eventNamesIn({ trigger, steps }: AutomationDefinition): string[] {
	const names = new Set(trigger.type === 'EVENT' ? [trigger.eventName] : [])
	for (const step of steps) if (step.type === 'WAIT_FOR_EVENT') names.add(step.config.eventName)
	return [...names]
}
