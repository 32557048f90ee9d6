import type { Pool } from 'pg'
import { grant, type OpenMail } from '../../db/emails/ledger.ts'
import { momentIn, type TimedMail } from './moments.ts'

/** Mails due so soon are opened now and wait, opened, for their moment. */
export const aheadMs = 20

/** Reserves send rate for those that have none; returns those whose moment has come. */
export async function payFor(
	{ pool, settings }: { pool: Pool; settings: { sendRatePerSecond: number } },
	todo: Map<string, TimedMail>,
	ready: TimedMail[],
) {
	const rate = ready[0]?.send_rate_per_second ?? settings.sendRatePerSecond
	if (ready.length === 0 || rate === 0) return ready
	// No more than a second ahead: what is reserved is not there for a more urgent mail.
	let affordable = Math.max(1, Math.floor(rate))
	for (const mail of todo.values()) if (mail.status === 'PENDING' && isPaid(mail)) affordable -= 1
	const unpaid = ready.filter((mail) => !isPaid(mail)).slice(0, Math.max(0, affordable))
	if (unpaid.length > 0) {
		const ids = unpaid.map((mail) => mail.id)
		const granted = await grant(pool, [ready[0]!.project_id, ids, rate])
		const dueAt = new Map(granted.map((row) => [row.id, momentIn(row.due_in_ms)]))
		for (const mail of unpaid)
			Object.assign(mail, {
				dueAt: dueAt.get(mail.id) ?? mail.dueAt,
				granted_attempt: mail.attempt + 1,
			})
	}
	const soon = performance.now() + aheadMs
	return ready.filter((mail) => isPaid(mail) && (mail.dueAt ?? 0) <= soon)
}

const isPaid = (mail: OpenMail) => mail.granted_attempt > mail.attempt
