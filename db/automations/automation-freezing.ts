import { createHash } from 'node:crypto'
import type { PoolClient } from 'pg'
import { int, json, text, uuid } from '../sql-types.ts'
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
import { limitVersions } from './automation-limits.ts'
import type { AutomationRecord } from './automation-records.ts'

/** Creates a version and returns its number, unless the current one has the same definition. */
const freezeVersion = statement('freeze-automation-version', {
	params: {
		projectId: uuid,
		automationId: uuid,
		definition: json<AutomationDefinition>(),
		hash: text,
		positions: json<object>(),
		eventNames: text.array,
	},
	row: { version: int },
	text: `with version as (
		insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select $projectId, a.id, coalesce((select max(v.version) from automation_versions v
				where v.project_id = $projectId and v.automation_id = a.id), 0) + 1,
			$definition::jsonb, $hash::text, $positions::jsonb
		from automations a
		where a.project_id = $projectId and a.id = $automationId::uuid and not exists (
			select from automation_versions v where v.project_id = $projectId and v.automation_id = a.id
				and v.version = a.current_version and v.hash = $hash::text)
		returning version
	), names as (
		insert into automation_event_names (project_id, name, automation_id)
		select $projectId, name, $automationId::uuid from version, unnest($eventNames::text[]) as name
		on conflict do nothing
	)
	update automations a set current_version = version.version from version
	where a.project_id = $projectId and a.id = $automationId::uuid
	returning version.version`,
})

/**
 * Makes a valid draft the version that new executions use. Returns the seconds to wait if an hour has too many versions of
 * this size; then the caller has to roll back.
 */
export async function freeze(db: PoolClient, draft: Draft): Promise<number | null> {
	const definition = definitionOf(draft)
	const { projectId, id } = draft.automation
	const written = JSON.stringify(definition)
	const positions = Object.fromEntries(draft.steps.map(({ id, x, y }) => [id, { x, y }]))
	const [frozen] = await freezeVersion(db, {
		projectId,
		automationId: id,
		definition,
		hash: createHash('sha256').update(written).digest('hex'),
		positions,
		eventNames: eventNamesIn(definition),
	})
	if (!frozen) return null
	const key = { projectId, automationId: id }
	return limitVersions(db, key, frozen.version, Buffer.byteLength(written))
}

/** Sorted, so that equal drafts have equal hashes, however they were edited. */
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

/** The values for settings that the draft leaves out. */
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
