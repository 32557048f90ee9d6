import type { FieldError } from '../errors.ts'

/** What members are called elsewhere, by the name that they have here. */
export type OtherNames = Record<string, string[]>

/** Other names for sending something later. */
export const laterNames = [
	'at',
	'sendAt',
	'deliverAt',
	'scheduledAt',
	'scheduleAt',
	'scheduledFor',
	'scheduledTime',
	'schedule',
	'delay',
	'deliveryTime',
	'deliveryDate',
	'sendTime',
	'sendAfter',
]

const plain = (name: string) => name.replaceAll(/[_-]/g, '').toLowerCase()

/**
 * Finds unknown members that mean a known one. They are refused, because a request that says when it is to be
 * sent, and is sent at once, is worse than an error. Case, `_` and `-` make no difference. Other unknown members
 * are ignored.
 */
export function misnamedMembers(schema: { properties: object }, otherNames: OtherNames) {
	const known = new Set(Object.keys(schema.properties))
	const meant = new Map<string, string>()
	for (const name of known) meant.set(plain(name), name)
	for (const [name, others] of Object.entries(otherNames))
		for (const other of others) meant.set(plain(other), name)
	return (body: unknown): FieldError[] => {
		const errors: FieldError[] = []
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return errors
		for (const [field, value] of Object.entries(body)) {
			if (known.has(field) || value === null) continue
			const name = meant.get(plain(field))
			if (name === undefined) continue
			errors.push({ field, message: `is not known here: use ${name}`, code: 'unrecognized_keys' })
		}
		return errors
	}
}
