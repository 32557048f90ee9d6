import type { PoolClient } from 'pg'
import { earlierMails, type AskedThrottle } from '../../db/emails/throttling.ts'

/** What `delivery` asks for, and what a mail is compared by. */
export interface Likeness {
	templateId: string | null
	throttleKey: string | null
	scheduledFor: Date | null
	/** null: nobody is skipped. */
	windowMs: number | null
}

export type Throttle = ReturnType<typeof createThrottle>

interface Sent {
	emailId: string
	/** In ms. */
	time: number
}

/** Templates and keys tell before rendering whether a recipient is skipped; for others the subject is needed. */
const isKnownBefore = ({ templateId, throttleKey }: Likeness) =>
	templateId !== null || throttleKey !== null

const keyOf = (contactId: string, { templateId, throttleKey }: Likeness, subject: string | null) =>
	JSON.stringify([contactId, templateId, throttleKey, templateId || throttleKey ? null : subject])

/** Knows what contacts have been sent before, and earlier in the same request. */
export function createThrottle() {
	const sent = new Map<string, Sent[]>()
	const now = Date.now()

	function add(key: string, one: Sent) {
		const others = sent.get(key)
		if (others) others.push(one)
		else sent.set(key, [one])
	}

	return {
		/** Reads what is needed for these contacts and messages. */
		async load(db: PoolClient, projectId: string, asked: { contactId: string; like: Likeness }[]) {
			const throttled = asked.flatMap(({ contactId, like }): AskedThrottle[] =>
				like.windowMs === null
					? []
					: [
							{
								contactId,
								templateId: like.templateId,
								throttleKey: like.throttleKey,
								at: like.scheduledFor?.toISOString() ?? null,
								windowMs: like.windowMs,
							},
						],
			)
			if (throttled.length === 0) return
			const longestWindowMs = Math.max(...throttled.map(({ windowMs }) => windowMs))
			const likes = new Map(
				asked.map(({ like }) => [`${like.templateId} ${like.throttleKey}`, like]),
			)
			for (const like of likes.values()) {
				const alike = throttled.filter(
					({ templateId, throttleKey }) =>
						templateId === like.templateId && throttleKey === like.throttleKey,
				)
				const found =
					alike.length === 0
						? []
						: await earlierMails(db, { projectId, asked: alike, longestWindowMs })
				for (const { contactId, emailId, subject, time } of found)
					add(keyOf(contactId, like, subject), { emailId, time: time.getTime() })
			}
		},

		/** The latest mail like this one within its window. Null as subject: before rendering. */
		earlier(contactId: string, like: Likeness, subject: string | null): string | null {
			const { windowMs, scheduledFor } = like
			if (windowMs === null || isKnownBefore(like) !== (subject === null)) return null
			const since = (scheduledFor?.getTime() ?? now) - windowMs
			const found = sent.get(keyOf(contactId, like, subject))?.filter(({ time }) => time > since)
			return found?.at(-1)?.emailId ?? null
		},

		note(contactId: string, like: Likeness, subject: string, emailId: string) {
			const time = like.scheduledFor?.getTime() ?? now
			add(keyOf(contactId, like, subject), { emailId, time })
		},
	}
}
