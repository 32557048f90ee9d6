import type { PoolClient } from 'pg'
import Type from 'typebox'
import type { AutomationRecord } from '../../db/automations/automation-records.ts'
import { lockReferences, findSegment } from '../../db/segments/segment-records.ts'
import { timeZoneNamed } from '../../db/time-zone.ts'
import { type FieldError, invalid, notFound } from '../errors.ts'
import { EventName } from '../events/event-names.ts'
import { ref, type Shape } from '../docs/shape.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { bodyFaults } from '../requests/validation.ts'
import { about, Id, Nullable } from '../schemas.ts'
import { cronProblem } from './cron.ts'

const closed = { additionalProperties: false }

/** `triggerConfig` in a body; its members depend on the trigger's type. */
export const TriggerConfig = Type.Record(Type.String(), Type.Unknown(), { title: 'TriggerConfig' })

const forms = {
	EVENT: Type.Object({ eventName: EventName }, closed),
	MANUAL: Type.Object({}, closed),
	SCHEDULE: Type.Object(
		{
			schedule: Type.String({
				minLength: 1,
				maxLength: 255,
				description: 'A cron expression with five fields.',
				examples: ['0 9 * * 1'],
			}),
			timezone: Type.Optional(
				about(
					'An IANA time zone. UTC unless you set one.',
					Nullable(Type.String({ maxLength: 64 })),
				),
			),
			segmentId: Type.Optional(
				about('Start executions for the members of this segment only.', Nullable(Id)),
			),
		},
		closed,
	),
}
const faultsOf = {
	EVENT: bodyFaults(forms.EVENT),
	MANUAL: bodyFaults(forms.MANUAL),
	SCHEDULE: bodyFaults(forms.SCHEDULE),
}

/** Triggers as the document describes them. */
export const triggerShapes: Record<string, Shape> = {
	EventTrigger: { ...forms.EVENT, description: 'For triggerType EVENT.' },
	ScheduleTrigger: { ...forms.SCHEDULE, description: 'For triggerType SCHEDULE.' },
	ManualTrigger: { ...forms.MANUAL, description: 'For triggerType MANUAL.' },
	TriggerConfig: {
		description: 'Which form applies depends on `triggerType`.',
		anyOf: ['EventTrigger', 'ScheduleTrigger', 'ManualTrigger'].map(ref),
	},
}

export type TriggerColumns = Pick<
	AutomationRecord,
	'triggerType' | 'eventName' | 'schedule' | 'timezone' | 'segmentId'
>

/** A trigger in the form of its columns, or a 422 with its faults; an unknown segment is a 404. */
export async function checkedTrigger(
	db: PoolClient,
	projectId: string,
	triggerType: TriggerColumns['triggerType'],
	given: Record<string, unknown>,
): Promise<TriggerColumns> {
	const field = 'triggerConfig'
	const errors = fieldErrors(faultsOf[triggerType](withoutNulls(given)))
	if (errors.length > 0)
		throw invalid(...errors.map((error) => ({ ...error, field: `${field}.${error.field}` })))
	const none = { eventName: null, schedule: null, timezone: null, segmentId: null }
	if (triggerType === 'MANUAL') return { triggerType, ...none }
	if (triggerType === 'EVENT')
		return {
			triggerType,
			...none,
			eventName: checkedEventName(given['eventName'], `${field}.eventName`),
		}
	const schedule = String(given['schedule']).trim()
	const problem = cronProblem(schedule)
	if (problem !== undefined) throw invalid(wrong(`${field}.schedule`, problem, given['schedule']))
	const timezone = await timeZoneNamed(db, (given['timezone'] ?? 'UTC') as string)
	if (timezone === undefined)
		throw invalid(
			wrong(
				`${field}.timezone`,
				'must be an IANA time zone such as Europe/Berlin',
				given['timezone'],
			),
		)
	const segmentId = (given['segmentId'] ?? null) as string | null
	if (segmentId !== null) await requireSegment(db, projectId, segmentId)
	return { triggerType, ...none, schedule, timezone, segmentId }
}

export function checkedEventName(given: unknown, field: string): string {
	const eventName = (given as string).trim()
	if (eventName === '') throw invalid({ field, message: 'must not be empty', code: 'too_small' })
	return eventName
}

/** Until the transaction ends the segment can't be deleted. */
async function requireSegment(db: PoolClient, projectId: string, id: string) {
	await lockReferences(db, { projectId })
	const [segment] = await findSegment(db, { projectId, segmentId: id })
	if (!segment) throw notFound('segment', id)
}

const withoutNulls = (given: Record<string, unknown>) =>
	Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))

const wrong = (field: string, message: string, received: unknown): FieldError => ({
	field,
	message,
	code: 'invalid_string',
	received,
})
