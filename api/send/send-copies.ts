import type { MailCopy } from '../../db/emails/email.ts'
import { type FieldError, invalid } from '../errors.ts'
import { type GivenAddress, recipientsIn } from './send-addresses.ts'

// `cc` and `bcc` of a request: further readers of one mail, who are no contacts.

export const mostCopies = 50

/** `field` is its place in the request: `cc`, or `cc.1` in a list. */
export interface CopyRequest {
	kind: MailCopy['kind']
	field: string
	email: string
	name: string | null
}

interface GivenCopies {
	cc?: GivenAddress | GivenAddress[] | undefined
	bcc?: GivenAddress | GivenAddress[] | undefined
}

export const copiesOf = ({ cc = [], bcc = [] }: GivenCopies): CopyRequest[] => [
	...recipientsIn('cc', cc).map((copy) => ({ kind: 'cc' as const, ...copy })),
	...recipientsIn('bcc', bcc).map((copy) => ({ kind: 'bcc' as const, ...copy })),
]

export function copyProblems(recipients: { email: string }[], copies: CopyRequest[]): FieldError[] {
	if (copies.length > mostCopies)
		return [
			{
				field: copies.at(-1)!.kind,
				message: `must have at most ${mostCopies} addresses in cc and bcc together`,
				code: 'too_big',
				received: copies.length,
			},
		]
	// Otherwise each recipient's mail would reach every copy.
	if (recipients.length > 1)
		return membersOf(copies).map((field) => ({
			field,
			message: 'is possible only with one recipient in to: send a message to each',
			code: 'custom',
		}))
	const seen = new Set(recipients.map(({ email }) => email))
	return copies.flatMap(({ field, email }) => {
		const isRepeated = seen.has(email)
		seen.add(email)
		if (!isRepeated) return []
		return {
			field,
			message: 'is in this message already',
			code: 'custom' as const,
			received: email,
		}
	})
}

/** A reader of a copy has agreed to nothing. */
export function refuseMarketingCopies(copies: CopyRequest[], templateType: string | undefined) {
	if (copies.length === 0 || templateType !== 'MARKETING') return
	throw invalid(
		...membersOf(copies).map((field) => ({
			field,
			message: 'is not possible with a MARKETING template, because a copy has no subscription',
			code: 'custom' as const,
		})),
	)
}

/** As stored with the mail. null: none, as with most mails. */
export const storedCopies = (copies: CopyRequest[]): MailCopy[] | null =>
	copies.length === 0
		? null
		: copies.map(({ kind, email, name }) => ({ kind, email, name, error: null }))

const membersOf = (copies: CopyRequest[]) => [...new Set(copies.map(({ kind }) => kind))]
