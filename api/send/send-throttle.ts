import type { PoolClient } from 'pg'
import { type AskedThrottle, earlierMails } from '../../db/emails/throttling.ts'
import type { PlannedMessage } from './send-mails.ts'
import type { Wanted } from './send-plan.ts'

type Planned = PlannedMessage['mails'][number]

interface Noted {
	emailId: string
	/** In ms. */
	time: number
}

/** What a mail is compared by: its template, else its key, else its subject. */
function likenessOf({ body, wanted: { throttleKey } }: Wanted, { contactId, subject }: Planned) {
	const templateId = body.template ?? null
	return {
		contactId,
		templateId,
		throttleKey,
		subject: templateId === null && throttleKey === null ? subject : null,
	}
}

/** Null: nobody is skipped. */
function askedOf(message: Wanted, mail: Planned): AskedThrottle | null {
	const { throttleMs: windowMs, scheduledFor } = message.wanted
	if (windowMs === null) return null
	return { ...likenessOf(message, mail), windowMs, at: scheduledFor?.toISOString() ?? null }
}

/**
 * Leaves out the mails of those who are sent the same within the window: by earlier requests, and by earlier messages
 * of this one.
 */
export async function withoutEarlier(
	db: PoolClient,
	projectId: string,
	wanted: Wanted[],
	messages: PlannedMessage[],
) {
	const sent = await sentBefore(db, projectId, wanted, messages)
	const noted = new Map<string, Noted[]>()
	const now = Date.now()

	/** The id of the earlier mail. Without one, this mail is noted. */
	function earlierOf(message: Wanted, mail: Planned) {
		const { throttleMs, scheduledFor } = message.wanted
		const asked = askedOf(message, mail)
		const before = asked && sent.get(JSON.stringify(asked))
		if (before) return before
		const key = JSON.stringify(likenessOf(message, mail))
		const time = scheduledFor?.getTime() ?? now
		const others = noted.get(key) ?? []
		const windowMs = throttleMs ?? 0
		const alike = others.findLast((other) => Math.abs(other.time - time) < windowMs)
		if (alike) return alike.emailId
		others.push({ emailId: mail.id, time })
		noted.set(key, others)
		return null
	}

	return messages.map((planned, place): PlannedMessage => {
		const earlier = new Map<string, string>()
		for (const mail of planned.mails) {
			const id = earlierOf(wanted[place]!, mail)
			if (id) earlier.set(mail.id, id)
		}
		if (earlier.size === 0) return planned
		const mails = planned.mails.filter(({ id }) => !earlier.has(id))
		return {
			...planned,
			mails,
			files: mails.length > 0 ? planned.files : [],
			outcomes: planned.outcomes.map((outcome) => {
				const id = earlier.get(outcome.id)
				return id ? { ...outcome, id, isThrottled: true } : outcome
			}),
		}
	})
}

/** The mails that earlier requests have sent, by the question. */
async function sentBefore(
	db: PoolClient,
	projectId: string,
	wanted: Wanted[],
	messages: PlannedMessage[],
) {
	const questions = new Map<string, AskedThrottle>()
	for (const [place, { mails }] of messages.entries())
		for (const mail of mails) {
			const asked = askedOf(wanted[place]!, mail)
			if (asked) questions.set(JSON.stringify(asked), asked)
		}
	if (questions.size === 0) return new Map<string, string>()
	const asked = [...questions.values()]
	const keys = [...questions.keys()]
	const longestWindowMs = Math.max(...asked.map(({ windowMs }) => windowMs))
	const found = await earlierMails(db, { projectId, asked, longestWindowMs })
	return new Map(found.map(({ place, emailId }) => [keys[place - 1]!, emailId]))
}
