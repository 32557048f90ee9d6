import type { Pool } from 'pg'
import { doubt, repeat } from '../../db/emails/doubt.ts'
import { bar } from '../../db/emails/ledger.ts'
import type { Provider } from '../providers/provider.ts'
import { doubtEnds, type TimedMail } from './moments.ts'
import { countEnds } from './settled-counts.ts'

interface PreparationServices {
	pool: Pool
	provider: Provider
	inHand: Set<string>
	settings: { uncertainAfterMs: number }
}

/** Resolves doubt as far as it can be, settles what must not go, and returns what is to be done. */
export async function prepare(
	{ pool, provider, inHand, settings }: PreparationServices,
	mails: TimedMail[],
	flying: Set<string>,
): Promise<Map<string, TimedMail>> {
	const todo = new Map(mails.map((mail) => [mail.id, mail]))
	const project = mails[0]?.project_id

	// Mail that leaves the machine is sent for those alone who have shown that they read theirs.
	if (provider.name !== 'local')
		for (const mail of mails.filter((m) => !m.owner_verified && !m.barred)) {
			mail.barred = 'CANCELLED'
			mail.barred_because = "The project's owner has not verified their email address"
		}
	// Another run of this claim is at them, one that Temporal has given up while all of us stood still.
	for (const { id } of mails) if (inHand.has(id) && !flying.has(id)) todo.delete(id)
	const orphans = mails.filter((mail) => mail.status === 'SENDING' && !inHand.has(mail.id))
	if (orphans.length > 0) {
		const rows = JSON.stringify(orphans.map(({ id, attempt }) => ({ id, attempt })))
		const doubted = await doubt(pool, [project, rows, provider.idempotent])
		countEnds(doubted)
		const after = new Map(doubted.map(({ id, status }) => [id, status]))
		for (const mail of orphans) {
			const status = after.get(mail.id)
			if (status) mail.status = status
			else todo.delete(mail.id)
		}
	}

	// Only transactional mail is repeated without evidence; the rest waits for somebody's decision.
	for (const mail of mails)
		if (mail.status === 'UNCERTAIN' && mail.source_type !== 'TRANSACTIONAL') todo.delete(mail.id)
	const stale = [...todo.values()].filter(
		(mail) =>
			mail.status === 'UNCERTAIN' &&
			doubtEnds(mail, settings.uncertainAfterMs) <= performance.now(),
	)
	if (stale.length > 0) {
		const ids = stale.map((mail) => mail.id)
		for (const { id } of await repeat(pool, [project, ids, settings.uncertainAfterMs / 1000]))
			Object.assign(todo.get(id)!, { status: 'PENDING', dueAt: null })
	}
	// Last of all: whatever is to be repeated must be allowed to go, too.
	const barred = [...todo.values()].filter((mail) => mail.barred && mail.status === 'PENDING')
	if (barred.length > 0) {
		const rows = barred.map((m) => ({ id: m.id, status: m.barred, error: m.barred_because }))
		await bar(pool, [project, JSON.stringify(rows)])
		countEnds(rows)
		for (const { id } of barred) todo.delete(id)
	}
	return todo
}
