import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { inTime } from '../../db/in-time.ts'
import { type Backlog, readBacklog } from '../../db/outbox/backlog.ts'

/** The database is queried at most this often, however many readers there are. */
const freshMs = 5000
/** Readers don't wait longer for an unavailable database. */
const patienceMs = 3000

/**
 * The backlog in the database, the same from every process. Without an answer from it, there are no
 * figures.
 */
export function watchBacklog(pool: Pool, registry: Registry) {
	const registers = [registry]
	let last: { at: number; answer: Promise<Backlog | undefined> } | undefined

	function ask() {
		if (!last || performance.now() - last.at > freshMs)
			last = {
				at: performance.now(),
				answer: inTime(
					patienceMs,
					readBacklog(pool).catch(() => undefined),
				),
			}
		return last.answer
	}

	function figure(name: string, help: string, read: (backlog: Backlog) => number) {
		const gauge = new Gauge({
			name,
			help,
			registers,
			async collect() {
				const backlog = await ask()
				if (backlog) gauge.set(read(backlog))
				else gauge.remove()
			},
		})
	}

	const up: Gauge = new Gauge({
		name: 'tempost_database_up',
		help: 'Whether Postgres answers this process.',
		registers,
		async collect(): Promise<void> {
			up.set((await ask()) ? 1 : 0)
		},
	})
	const mails = new Gauge({
		name: 'tempost_backlog_mails',
		help: 'Mails that are not settled: of requests and workflows (send), of campaigns under way (campaign).',
		labelNames: ['source'] as const,
		registers,
		async collect() {
			mails.reset()
			const backlog = await ask()
			if (!backlog) return
			mails.set({ source: 'send' }, backlog.queuedMails)
			mails.set({ source: 'campaign' }, backlog.campaignMails)
		},
	})
	figure(
		'tempost_backlog_age_seconds',
		'The longest wait of a mail that could already have been sent.',
		(backlog) => backlog.backlogAgeSeconds,
	)
	figure(
		'tempost_uncertain_mails',
		'Mails in doubt: handed over, but not known to have arrived.',
		(backlog) => backlog.uncertainMails,
	)
	figure(
		'tempost_outbox_rows',
		'Starts and signals that were not yet passed to Temporal.',
		(backlog) => backlog.outboxRows,
	)
	figure(
		'tempost_outbox_age_seconds',
		'How long the oldest of them has waited.',
		(backlog) => backlog.outboxAgeSeconds,
	)
	figure('tempost_workers', 'Worker processes that are alive.', (backlog) => backlog.workers)
}
