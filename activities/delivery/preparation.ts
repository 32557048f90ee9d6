import type { Pool } from 'pg'
import { doubt, doubtForgotten, repeat } from '../../db/emails/doubt.ts'
import { settleBarred } from '../../db/emails/ledger.ts'
import type { Provider } from '../../outside/providers/provider.ts'
import { doubtEnds, type TimedMail } from './moments.ts'
import { countEnds } from './settled-counts.ts'

interface PreparationServices {
	pool: Pool
	provider: Provider
	inHand: Set<string>
	settings: { uncertainAfterMs: number }
}

/** Resolves doubt where possible, settles mails that may not be sent, and returns the mails to be sent. */
export async function prepare(
	{ pool, provider, inHand, settings }: PreparationServices,
	mails: TimedMail[],
	underWay: ReadonlyMap<string, unknown>,
): Promise<Map<string, TimedMail>> {
	const todo = new Map(mails.map((mail) => [mail.id, mail]))
	if (mails.length === 0) return todo
	const projectId = mails[0]!.project_id

	// Another run of this claim in this process is handing them over. Temporal gave that run up during a
	// stall.
	for (const { id } of mails) if (inHand.has(id) && !underWay.has(id)) todo.delete(id)
	const orphans = mails.filter((mail) => mail.status === 'SENDING' && !inHand.has(mail.id))
	if (orphans.length > 0) {
		const inDoubt = orphans.map(({ id, attempt }) => ({ id, attempt }))
		const doubted = await doubt(pool, {
			projectId,
			mails: inDoubt,
			provider: provider.name,
			isIdempotent: provider.idempotent,
		})
		countEnds(doubted)
		const after = new Map(doubted.map(({ id, status }) => [id, status]))
		for (const mail of orphans) {
			const status = after.get(mail.id)
			if (status) mail.status = status
			else todo.delete(mail.id)
		}
	}

	const tried = [...todo.values()].filter(
		({ status, attempt }) => status === 'PENDING' && attempt > 0,
	)
	if (tried.length > 0) {
		const forgotten = await doubtForgotten(pool, {
			projectId,
			emailIds: tried.map(({ id }) => id),
			provider: provider.name,
			isIdempotent: provider.idempotent,
		})
		countEnds(forgotten)
		for (const { id, status } of forgotten) todo.get(id)!.status = status
	}

	// Only transactional mail is repeated without evidence. For other mail, the owner has to decide.
	for (const mail of mails)
		if (mail.status === 'UNCERTAIN' && mail.source_type !== 'TRANSACTIONAL') todo.delete(mail.id)
	const stale = [...todo.values()].filter(
		(mail) =>
			mail.status === 'UNCERTAIN' &&
			doubtEnds(mail, settings.uncertainAfterMs) <= performance.now(),
	)
	if (stale.length > 0) {
		const ids = stale.map((mail) => mail.id)
		for (const { id } of await repeat(pool, {
			projectId,
			emailIds: ids,
			doubtSeconds: settings.uncertainAfterMs / 1000,
		}))
			Object.assign(todo.get(id)!, { status: 'PENDING', dueAt: null })
	}
	// This comes last, because mails to be repeated also need permission to be sent.
	const barred = [...todo.values()].filter((mail) => mail.barred && mail.status === 'PENDING')
	if (barred.length > 0) {
		const rows = barred.map((m) => ({ id: m.id, status: m.barred, error: m.barred_because }))
		await settleBarred(pool, { projectId, mails: rows })
		countEnds(rows)
		for (const { id } of barred) todo.delete(id)
	}
	return todo
}
