import { statement } from '../statement.ts'
import type { triggerTypes } from './automation.ts'

export interface AutomationRecord {
	id: string
	projectId: string
	name: string
	description: string | null
	enabled: boolean
	triggerType: (typeof triggerTypes)[number]
	eventName: string | null
	schedule: string | null
	timezone: string | null
	segmentId: string | null
	allowReentry: boolean
	currentVersion: number | null
	createdAt: Date
	updatedAt: Date
}

export const automationColumns = `a.id, a.project_id as "projectId", a.name, a.description, a.enabled,
	a.trigger_type as "triggerType", a.event_name as "eventName", a.schedule, a.timezone,
	a.segment_id as "segmentId", a.allow_reentry as "allowReentry",
	a.current_version as "currentVersion", a.created_at as "createdAt", a.updated_at as "updatedAt"`

/** $1 project, $2 id */
export const findAutomation = statement<AutomationRecord>(
	'find-automation',
	`select ${automationColumns} from automations a where a.project_id = $1 and a.id = $2::uuid`,
)

/**
 * The same, and until this transaction ends nobody else changes it, its steps or its transitions.
 * Executions may begin meanwhile. $1 project, $2 id
 */
export const lockAutomation = statement<AutomationRecord>(
	'lock-automation',
	`select ${automationColumns} from automations a
	where a.project_id = $1 and a.id = $2::uuid for no key update`,
)

/** The same, and no execution begins either. $1 project, $2 id */
export const lockAutomationToDelete = statement<AutomationRecord>(
	'lock-automation-to-delete',
	`select ${automationColumns} from automations a where a.project_id = $1 and a.id = $2::uuid for update`,
)

/** $1 project, $2 name, $3 description, $4 event name, $5 whether one may come again */
export const insertAutomation = statement<AutomationRecord>(
	'insert-automation',
	`insert into automations as a (project_id, name, description, event_name, allow_reentry)
	values ($1, $2::text, $3::text, $4::text, $5::bool) returning ${automationColumns}`,
)

/**
 * $1 project, $2 id, $3 name, $4 description, $5 enabled, $6 trigger type, $7 event name, $8 schedule,
 * $9 time zone, $10 segment, $11 whether one may come again
 */
export const updateAutomation = statement(
	'update-automation',
	`update automations set name = $3::text, description = $4::text, enabled = $5::bool,
		trigger_type = $6::text, event_name = $7::text, schedule = $8::text, timezone = $9::text,
		segment_id = $10::uuid, allow_reentry = $11::bool
	where project_id = $1 and id = $2::uuid`,
)

/** It was changed, or its steps or transitions were. $1 project, $2 id */
export const touchAutomation = statement(
	'touch-automation',
	`update automations set updated_at = now() where project_id = $1 and id = $2::uuid`,
)

/**
 * Gone at once for whoever asks; its executions, of which there may be a million, go behind it.
 * $1 project, $2 id
 */
export const deleteAutomation = statement(
	'delete-automation',
	`with gone as (
		delete from automations where project_id = $1 and id = $2::uuid returning project_id, id
	)
	insert into removed_automations (project_id, id) select project_id, id from gone`,
)

/** A copy that is not enabled and has no steps yet. $1 project, $2 id, $3 its name */
export const copyAutomation = statement<AutomationRecord>(
	'copy-automation',
	`insert into automations as a (project_id, name, description, trigger_type, event_name, schedule,
		timezone, segment_id, allow_reentry)
	select project_id, $3::text, description, trigger_type, event_name, schedule, timezone, segment_id,
		allow_reentry
	from automations where project_id = $1 and id = $2::uuid
	returning ${automationColumns}`,
)
