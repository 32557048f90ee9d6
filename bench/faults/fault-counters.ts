import type pg from 'pg'
import { api, type Progress, progressOf } from '../campaign/campaign-run.ts'
import type { Stack } from '../stack.ts'
import type { Find } from './fault-check.ts'
import type { Load } from './fault-load.ts'
import type { Harm } from './fault-strikes.ts'

interface Job {
	state: string
	failedReason: string | null
	result: Record<'totalRows' | 'successCount' | 'failureCount', number> | null
}

/** Compares the API's figures with the rows. */
export async function checkCounters(
	db: pg.Client,
	stack: Stack,
	load: Load,
	harms: Harm[],
	find: Find,
) {
	const one = async <T>(sql: string, values: unknown[] = []) =>
		(await db.query<T & pg.QueryResultRow>(sql, values)).rows[0]!
	const same = (what: string, said: unknown, is: unknown) => {
		if (said !== is)
			find('miscounted', `${what}: the API says ${String(said)}, it is ${String(is)}`)
	}

	for (const [id, recipients] of load.campaigns) {
		const is = await one<Record<keyof Omit<Progress, 'total'>, number> & Record<string, number>>(
			`select count(*) filter (where status = 'PENDING')::int as pending,
				count(*) filter (where status = 'SENDING')::int as sending,
				count(*) filter (where status = 'UNCERTAIN')::int as uncertain,
				count(*) filter (where status in ('SUPPRESSED', 'CANCELLED'))::int as skipped,
				count(*) filter (where status = 'FAILED')::int as failed,
				count(*) filter (where status in ('SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED',
					'COMPLAINED'))::int as sent,
				count(*)::int as total, count(distinct contact_id)::int as people
			from emails where campaign_id = $1`,
			[id],
		)
		const said = (await progressOf(stack, id)) as unknown as Record<string, number>
		for (const state of ['pending', 'sending', 'uncertain', 'skipped', 'failed', 'sent', 'total'])
			same(`${state} of campaign ${id}`, said[state], is[state])
		same(`recipients of campaign ${id}`, is['total'], recipients)
		same(`people of campaign ${id}`, is['people'], recipients)
		const stats = await api<{ sentCount: number; failedCount: number }>(
			stack,
			'GET',
			`/campaigns/${id}/stats`,
		)
		same(`sentCount of campaign ${id}`, stats.sentCount, is['sent'])
		same(`failedCount of campaign ${id}`, stats.failedCount, is['failed'])
	}

	for (const [id, rows] of load.imports) {
		const job = await api<Job>(stack, 'GET', `/contacts/import/${id}`)
		if (job.state !== 'completed') find('stuck', `import ${id} is ${job.state} ${job.failedReason}`)
		else {
			same(`rows of import ${id}`, job.result!.totalRows, rows)
			same(`outcomes of import ${id}`, job.result!.successCount + job.result!.failureCount, rows)
		}
	}

	const contacts = await one<{ n: number; strays: number }>(
		`select count(*)::int as n, count(*) filter (where c.email like any('{s-%,nobody-%}') and not exists (
			select from emails e where e.contact_id = c.id))::int as strays from contacts c`,
	)
	const { total } = await api<{ total: number }>(stack, 'GET', '/contacts?limit=1')
	same('contacts', total, contacts.n)
	same('contacts of sends that were refused', contacts.strays, 0)

	const { rows: names } = await db.query<{ name: string; n: number }>(
		`select name, count(*)::int as n from (
			select name from events union all select 'email.sent' from emails where is_sent_event) happened group by name`,
	)
	const stats = await api<{ name: string; count: number }[]>(stack, 'GET', '/events/stats')
	const counted = new Map(stats.map(({ name, count }) => [name, count]))
	for (const { name, n } of names) same(`events ${name}`, counted.get(name) ?? 0, n)

	// An API whose clock is ahead near midnight records opens for tomorrow.
	const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10)
	const days = await api<Record<'emails' | 'opens' | 'clicks', number>[]>(
		stack,
		'GET',
		`/analytics/timeseries?endDate=${tomorrow}`,
	)
	const sum = (key: 'emails' | 'opens' | 'clicks') => days.reduce((n, day) => n + day[key], 0)
	const mails = await one<Record<'sent' | 'opened' | 'clicked' | 'reads', number>>(
		`select count(*) filter (where sent_at is not null)::int as sent,
			count(opened_at)::int as opened, count(clicked_at)::int as clicked,
			sum(opens + clicks + prefetches)::int as reads from emails`,
	)
	same('mails of all days', sum('emails'), mails.sent)
	same('opened mails of all days', sum('opens'), mails.opened)
	same('clicked mails of all days', sum('clicks'), mails.clicked)

	// Opens and clicks during an outage of Postgres are only in memory, and are lost with their process.
	const away = harms.filter(({ fault }) => /postgres|disk/.test(fault))
	const isSure = (at: number) =>
		!away.some(({ from, until }) => at > from - 1000 && at < until + 10_000)
	const sure = load.reads.filter(({ at, isAnswered }) => isAnswered && isSure(at)).length
	if (mails.reads < sure || mails.reads > load.reads.length)
		find('miscounted', `${mails.reads} opens and clicks, of ${sure} to ${load.reads.length}`)
}
