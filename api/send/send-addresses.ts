import { normalizeEmail } from '../schemas.ts'

export type GivenAddress = string | { email: string; name?: string | undefined }

/** Addresses of a member, each with its place in the request: `to`, or `to.1` in a list. */
export function recipientsIn(member: string, given: GivenAddress | GivenAddress[]) {
	const isList = Array.isArray(given)
	return (isList ? given : [given]).map((recipient, index) => ({
		field: isList ? `${member}.${index}` : member,
		...(typeof recipient === 'string'
			? { email: normalizeEmail(recipient), name: null }
			: addressOf(recipient)),
	}))
}

export const addressOf = ({ email, name }: { email: string; name?: string | undefined }) => ({
	email: normalizeEmail(email),
	name: name?.trim() || null,
})
