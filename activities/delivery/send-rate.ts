import type { Pool } from 'pg'
import { grant } from '../../db/emails/ledger.ts'
import type { ProviderPause } from './provider-pause.ts'
import { momentIn, type TimedMail } from './moments.ts'

/** Mails due within this time are opened now and wait for their time while open. */
export const aheadMs = 20

interface RateServices {
	pool: Pool
	settings: { sendRatePerSecond: number }
	pause: Pick<ProviderPause, 'endsAt'>
}

/** Reserves send rate for mails that have none, and returns the mails that are due. */
export async function payFor(
	{ pool, settings, pause }: RateServices,
	todo: Map<string, TimedMail>,
	ready: TimedMail[],
) {
	const rate = ready[0]?.send_rate_per_second ?? settings.sendRatePerSecond
	if (ready.length === 0 || rate === 0) return ready
	// A time at which the provider was away is over: mails that waited for it would otherwise all leave at once.
	const isPaid = (mail: TimedMail) =>
		mail.granted_attempt > mail.attempt && (mail.dueAt ?? Infinity) >= pause.endsAt()
	// Reserves at most one second ahead, because reserved rate is not available for more urgent mail.
	let affordable = Math.max(1, Math.floor(rate))
	for (const mail of todo.values()) if (mail.status === 'PENDING' && isPaid(mail)) affordable -= 1
	const unpaid = ready.filter((mail) => !isPaid(mail)).slice(0, Math.max(0, affordable))
	if (unpaid.length > 0) {
		const ids = unpaid.map((mail) => mail.id)
		const granted = await grant(pool, {
			projectId: ready[0]!.project_id,
			emailIds: ids,
			perSecond: rate,
		})
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
