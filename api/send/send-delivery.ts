import Type from 'typebox'
import type { FieldError } from '../errors.ts'
import { about, Line } from '../schemas.ts'

// `delivery` of a request: when its mails are sent, and whether at all.

const mostDaysAhead = 30
/** Of a mail that is moved. Its month of the ledger stays open for it. */
const mostDaysAfterAcceptance = 60

export const Delivery = Type.Object(
	{
		at: Type.Optional(
			Type.String({
				format: 'date-time',
				description: `When the mail is to be sent, with a time zone, at most ${mostDaysAhead} days ahead. A time in the past means now.`,
			}),
		),
		throttle: Type.Optional(
			Type.String({
				pattern: '^[1-9]\\d{0,6}[smhd]$',
				'x-message': 'must be a duration such as 15m, 24h or 7d',
				description:
					'A duration of at most 30 days, such as 15m, 24h or 7d. Recipients who have been sent the same within it are skipped: the same template, else the same `throttleKey`, else the same subject.',
			}),
		),
		throttleKey: Type.Optional(
			about(
				'What `throttle` compares instead of the subject, for a mail without a template.',
				Line({ minLength: 1, maxLength: 255 }),
			),
		),
	},
	{ additionalProperties: false, title: 'Delivery' },
)

type Delivery = Type.Static<typeof Delivery>

/** null: it has passed, or is not given. */
export function timeOf(at: string | undefined) {
	const time = at === undefined ? null : new Date(at)
	return time && time.getTime() > Date.now() ? time : null
}

export function timeProblems(at: string | undefined): FieldError[] {
	const time = timeOf(at)
	if (!time || time.getTime() - Date.now() <= mostDaysAhead * 86_400_000) return []
	return [
		{
			field: 'delivery.at',
			message: `must be at most ${mostDaysAhead} days ahead`,
			code: 'too_big',
			received: at,
		},
	]
}

/** The faults of a time to which a mail is moved. */
export function moveProblems(at: string, createdAt: Date): FieldError[] {
	const problems = timeProblems(at)
	const time = timeOf(at)
	const latest = createdAt.getTime() + mostDaysAfterAcceptance * 86_400_000
	if (problems.length > 0 || !time || time.getTime() <= latest) return problems
	return [
		{
			field: 'delivery.at',
			message: `must be at most ${mostDaysAfterAcceptance} days after the mail was accepted`,
			code: 'too_big',
			received: at,
		},
	]
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export const msOf = (duration: string) =>
	Number.parseInt(duration) * unitMs[duration.at(-1) as keyof typeof unitMs]

export function throttleProblems(
	delivery: Delivery | undefined,
	hasTemplate: boolean,
): FieldError[] {
	const problems: FieldError[] = []
	if (delivery?.throttle && msOf(delivery.throttle) > mostDaysAhead * 86_400_000)
		problems.push({
			field: 'delivery.throttle',
			message: `must be at most ${mostDaysAhead} days`,
			code: 'too_big',
			received: delivery.throttle,
		})
	if (delivery?.throttleKey && hasTemplate)
		problems.push({
			field: 'delivery.throttleKey',
			message: 'is for mails without a template: mails with one are compared by the template',
			code: 'custom',
		})
	return problems
}
