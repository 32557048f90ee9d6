import { setTimeout as sleep } from 'node:timers/promises'
import { poolOf } from '../../db/statement.ts'
import { cpuMeter, peakMb } from '../cpu.ts'
import type { SinkProcess } from '../sink.ts'
import type { Stack } from '../stack.ts'

const sentence =
	'This is what a campaign of ours looks like, with words enough to fill a line or two. '
const link = (n: number) =>
	`<a href="https://shop.example/offer-${n}?utm_source=news">Offer ${n}</a>`

/** 4 KB with three variables and four links. */
export const content = {
	name: 'Measured',
	subject: 'News for {{ firstName }}',
	body: `<h1>Hello {{ firstName }}</h1>${[1, 2, 3, 4]
		.map((n) => `<p>${sentence.repeat(10)}${link(n)}</p>`)
		.join('\n')}<p>You live in {{ city }} and have the plan {{ plan }}.</p>`,
	from: 'news@example.com',
	fromName: 'News',
	type: 'MARKETING',
	audienceType: 'ALL',
}

const atOnce = 50_000

/** Creates this many contacts with some custom data, and keeps existing ones. */
export async function seedRecipients({ orm, projectId }: Stack, count: number) {
	const pool = await poolOf(orm.em)
	for (let first = 1; first <= count; first += atOnce)
		await pool.query(
			`insert into contacts (project_id, email, subscribed, data)
			select $1, 'recipient-' || i || '@example.org', true, jsonb_build_object(
				'firstName', 'Ann ' || i % 1000, 'city', 'City ' || i % 300,
				'plan', (array['free', 'pro', 'team'])[1 + i % 3])
			from generate_series($2::int, $3::int) i
			on conflict (project_id, email) do nothing`,
			[projectId, first, Math.min(first + atOnce - 1, count)],
		)
	for (const table of [
		'contacts',
		'contact_field_changes',
		'contact_field_values',
		'contact_fields',
	])
		await pool.query(`vacuum analyze ${table}`)
}

export async function api<T>(
	{ apiUrl, secretKey }: Pick<Stack, 'apiUrl' | 'secretKey'>,
	method: string,
	path: string,
	body?: object,
): Promise<T> {
	const answer = await fetch(`${apiUrl}${path}`, {
		method,
		headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
		...(body && { body: JSON.stringify(body) }),
	})
	if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
	return (await answer.json()) as T
}

export interface Progress {
	total: number
	pending: number
	sending: number
	uncertain: number
	sent: number
	failed: number
	skipped: number
}

export const progressOf = (stack: Stack, id: string) =>
	api<Progress>(stack, 'GET', `/campaigns/${id}/progress`)

export async function createCampaign(stack: Stack, changes: object = {}) {
	const { data } = await api<{ data: { id: string } }>(stack, 'POST', '/campaigns', {
		...content,
		...changes,
	})
	return data.id
}

export const sendCampaign = (stack: Stack, id: string) =>
	api(stack, 'POST', `/campaigns/${id}/send`, {})

/** The project's mails a second; 0: no limit. */
export const limitRate = async ({ orm, projectId }: Stack, perSecond: number) =>
	(await poolOf(orm.em)).query('update projects set send_rate_per_second = $2 where id = $1', [
		projectId,
		perSecond,
	])

/** Waits until the campaign has this status. */
export async function ended(stack: Stack, id: string, status = 'SENT', patienceMs = 900_000) {
	for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(250))
		if ((await api<{ status: string }>(stack, 'GET', `/campaigns/${id}`)).status === status) return
	throw new Error(
		`The campaign does not end: ${JSON.stringify(await progressOf(stack, id))}\n${stack.worker.output()}`,
	)
}

export interface Run {
	/** From the first mail to the last, as the sink saw them. */
	perSecond: number
	/** From the request to SENT. */
	wholeSeconds: number
	/** From the answer to the request until the first mail arrived. */
	firstMailSeconds: number
	/** From the answer to the request until the whole audience was frozen. */
	frozenSeconds: number
	/** The growth of all tables and indexes. */
	bytesPerMail: number
	cpuPerThousand: { worker: number; api: number; postgres: number; temporal: number; all: number }
	transactionsPerMail: number
	workerPeakMb: number
}

/** One campaign to all contacts, from the request to SENT. */
export async function runCampaign(
	stack: Stack,
	sink: SinkProcess,
	temporal: string,
	count: number,
) {
	const id = await createCampaign(stack)
	await sink.forget()
	const pool = await poolOf(stack.orm.em)
	const committed = async () =>
		(
			await pool.query<{ n: number }>(
				'select xact_commit::float8 as n from pg_stat_database where datname = current_database()',
			)
		).rows[0]!.n
	const stored = async () =>
		(
			await pool.query<{ bytes: number }>(
				`select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
				where relkind = 'r' and relnamespace = 'public'::regnamespace`,
			)
		).rows[0]!.bytes
	const meter = await cpuMeter(stack, temporal)
	const [before, storedBefore] = [await committed(), await stored()]
	const startedAt = Date.now()
	await sendCampaign(stack, id)
	const answeredAt = Date.now()
	await ended(stack, id)
	const wholeSeconds = (Date.now() - startedAt) / 1000
	const used = meter.read()
	const { accepted, firstAt, lastAt } = await sink.statistics()
	const distinct = await sink.distinct()
	if (accepted !== count || distinct !== count)
		throw new Error(`${accepted} mails, ${distinct} different, instead of ${count}`)
	await sleep(1500) // Postgres reports its statistics with a delay
	const transactions = (await committed()) - before
	const { rows } = await pool.query<{ at: Date }>(
		'select materialised_at as at from campaigns where id = $1',
		[id],
	)
	const frozenAt = new Date(rows[0]!.at).getTime()
	const perThousand = (seconds: number) => (seconds / count) * 1000
	return {
		perSecond: (count / (lastAt - firstAt)) * 1000,
		wholeSeconds,
		firstMailSeconds: (firstAt - answeredAt) / 1000,
		frozenSeconds: (frozenAt - answeredAt) / 1000,
		bytesPerMail: ((await stored()) - storedBefore) / count,
		cpuPerThousand: {
			worker: perThousand(used.worker),
			api: perThousand(used.api),
			postgres: perThousand(used.postgres),
			temporal: perThousand(used.temporal),
			all: perThousand(used.all),
		},
		transactionsPerMail: transactions / count,
		workerPeakMb: peakMb(stack.worker.pid()),
	} satisfies Run
}
