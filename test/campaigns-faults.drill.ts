import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { startSink } from '../bench/sink.ts'
import { prepareStack } from '../bench/stack.ts'
import type { Progress } from '../db/campaigns/campaign-counts.ts'
import { poolOf } from '../db/statement.ts'
import { sumOf, whole } from './helpers/campaigns.ts'
import { randomFrom } from './helpers/random.ts'

// Real processes, a real mail server, and random pauses, kills and redeploys.

const recipients = 5000

test.serial(
	'through pauses, kills and redeploys the states add up to the total, and no contact gets two mails',
	async (t) => {
		const seed = Date.now() % 1_000_000
		t.log(`seed ${seed}`)
		const random = randomFrom(seed)
		const { stack, sink, call, progress, query, id } = await openSending(t)
		let reading = true
		let readings = 0
		const reader = (async () => {
			for (; reading; await sleep(20)) {
				const now = await progress()
				t.is(sumOf(now), recipients, JSON.stringify(now))
				t.is(now.total, recipients)
				readings += 1
			}
		})()
		const acts = {
			async pause() {
				const answer = await call('POST', '/pause')
				if (answer.status !== 200) return
				await sleep(2000)
				const before = (await sink.statistics()).accepted
				await sleep(500)
				t.is((await sink.statistics()).accepted, before, 'handed over two seconds after a pause')
				if (random.below(3) > 0) await call('POST', '/resume')
			},
			resume: async () => void (await call('POST', '/resume')),
			async kill() {
				await stack.worker.stop('SIGKILL')
				await stack.worker.start()
			},
			async redeploy() {
				await stack.worker.stop()
				await stack.worker.start()
			},
			rest: () => sleep(300),
		}
		for (let act = 0; act < 8; act++) await random.one(Object.values(acts))()
		await call('POST', '/resume')
		const status = async () => ((await (await call('GET', '')).json()) as { status: string }).status
		for (const endsAt = Date.now() + 90_000; (await status()) !== 'SENT'; await sleep(200))
			if (Date.now() > endsAt)
				t.fail(`still ${await status()}: ${JSON.stringify(await progress())}`)
		reading = false
		await reader
		t.true(readings > 50)

		const { sent, uncertain, failed, skipped } = await progress()
		t.deepEqual(
			{ failed, skipped, all: sent + uncertain },
			{ failed: 0, skipped: 0, all: recipients },
		)
		const taken = (await sink.mails()).map(({ to }) => to)
		t.is(new Set(taken).size, taken.length, 'somebody got it twice')
		const sentTo = await query<{ to: string }>(
			`select "to" from emails where campaign_id = $1 and status = 'SENT'`,
			[id],
		)
		const reached = new Set(taken)
		t.deepEqual(
			sentTo.filter(({ to }) => !reached.has(to)),
			[],
			'SENT that nobody took',
		)
		t.is(
			(
				await query(`select email_id from events where name = 'email.sent'
			union all select id from emails where is_sent_event`)
			).length,
			sent,
		)
	},
)

test.serial(
	'two seconds after a cancellation nothing is handed over, and unsent mails are CANCELLED',
	async (t) => {
		const { sink, call, progress, query, id } = await openSending(t)
		for (const endsAt = Date.now() + 60_000; (await progress()).sent < 300; await sleep(20))
			if (Date.now() > endsAt) return t.fail('it does not begin')
		const cancelled = await (await call('POST', '/cancel')).json()
		t.like(cancelled, { status: 'CANCELLED' })
		t.is((await progress()).pending, 0)
		await sleep(2000)
		const before = (await sink.statistics()).accepted
		t.true(before < recipients)
		for (const endsAt = Date.now() + 60_000; ; await sleep(100)) {
			const [row] = await query<{ closed: boolean }>(
				'select closed_at is not null as closed from campaigns where id = $1',
				[id],
			)
			if (row!.closed) break
			if (Date.now() > endsAt) return t.fail('it does not end')
		}
		t.is((await sink.statistics()).accepted, before)
		const states = await query<{ status: string; count: number }>(
			'select status, count(*)::int as count from emails group by 1 order by 1',
		)
		t.deepEqual(states, [
			{ status: 'CANCELLED', count: recipients - before },
			{ status: 'SENT', count: before },
		])
		t.like(await progress(), { sent: before, skipped: recipients - before, pending: 0, sending: 0 })
	},
)

/** A campaign under way, slow enough to be disturbed. */
async function openSending(t: ExecutionContext) {
	const servers = {
		databaseUrl: process.env['DATABASE_URL']!,
		temporalAddress: process.env['TEMPORAL_ADDRESS']!,
	}
	const sink = await startSink(['--delay', '15'])
	t.teardown(() => sink.close())
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: `${sink.url}?pool=8`,
	})
	t.teardown(() => stack.stop())
	await stack.api.start()
	await stack.worker.start()
	const pool = await poolOf(stack.orm.em)
	await pool.query(
		`insert into contacts (project_id, email, subscribed)
		select $1, 'r' || n || '@example.org', true from generate_series(1, $2::int) n`,
		[stack.projectId, recipients],
	)
	const headers = { authorization: `Bearer ${stack.secretKey}`, 'content-type': 'application/json' }
	const ask = (method: string, path: string, body?: object) =>
		fetch(`${stack.apiUrl}/campaigns${path}`, {
			method,
			headers,
			...(body ? { body: JSON.stringify(body) } : method === 'POST' ? { body: '{}' } : {}),
		})
	const created = (await (await ask('POST', '', whole)).json()) as { data: { id: string } }
	const { id } = created.data
	t.is((await ask('POST', `/${id}/send`)).status, 200)
	return {
		stack,
		sink,
		id,
		call: (method: string, path: string) => ask(method, `/${id}${path}`),
		progress: async () => (await (await ask('GET', `/${id}/progress`)).json()) as Progress,
		query: async <Row extends object>(sql: string, values: unknown[] = []) =>
			(await pool.query<Row>(sql, values)).rows,
	}
}
