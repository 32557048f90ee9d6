import { setTimeout as sleep } from 'node:timers/promises'
import { trackedUrls, trackingKey } from '../../mail/tracked-urls.ts'
import { Domain } from '../../db/domains/domain.ts'
import { newKeys } from '../../db/projects/project-keys.ts'
import { Project } from '../../db/projects/project.ts'
import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import { client, median, percentile, until } from '../load.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { createCampaign, ended, seedRecipients, sendCampaign } from './campaign-run.ts'

const singleSends = 500
const gapMs = 30
const settleMs = 2000
const opensPerMinute = 10_000
const secret = 'a secret of the benchmark, known to it'

/** How a campaign affects other mail, and how a campaign's readers affect another campaign. */
export async function beside(servers: Servers, recipients: number): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		SESSION_SECRET: secret,
	})
	try {
		await stack.api.start()
		await stack.worker.start()
		await seedRecipients(stack, recipients)
		const neighbour = await otherProject(stack)
		return [...(await single(stack, sink, neighbour)), ...(await readers(stack, sink, recipients))]
	} finally {
		await stack.stop()
		await sink.close()
	}
}

/** Single mails of another project, alone and beside a campaign. */
async function single(stack: Stack, sink: SinkProcess, neighbour: { secretKey: string }) {
	await delays(stack, sink, neighbour) // warm
	const p99 = async (rounds: number) => {
		const all: number[] = []
		while (all.length < rounds) all.push(percentile(await delays(stack, sink, neighbour), 0.99))
		return median(all)
	}
	const alone = await p99(3)
	const rows: Row[] = []
	// Without a rate limit the campaign would end before a second round.
	for (const [rate, most, rounds] of [
		[1000, 2, 3],
		[0, 5, 1],
	] as const) {
		const pool = await poolOf(stack.orm.em)
		await pool.query('update projects set send_rate_per_second = $2 where id = $1', [
			stack.projectId,
			rate,
		])
		const id = await createCampaign(stack)
		await sendCampaign(stack, id)
		const before = (await sink.statistics()).accepted
		await until(async () => (await sink.statistics()).accepted > before + 500, 120_000, 10)
		const beside = await p99(rounds)
		await ended(stack, id)
		rows.push({
			what: `/v1/send to sink, p99 of ${singleSends}, beside a campaign ${rate ? `at ${rate} mails/s` : 'unthrottled'}`,
			reached: `${beside} ms, ${(beside / alone).toFixed(1)} times`,
			target: `<= ${most} times alone`,
			floor: `${alone} ms alone`,
			isMet: beside <= most * alone,
		})
	}
	return rows
}

let sends = 0

async function delays({ apiUrl }: Stack, sink: SinkProcess, { secretKey }: { secretKey: string }) {
	const http = client(apiUrl, secretKey, 8)
	const begun = new Map<string, number>()
	const asked: Promise<unknown>[] = []
	for (let i = 0; i < singleSends; i++) {
		const at = Date.now()
		asked.push(
			http
				.post('/v1/send', {
					to: `single-${sends++}@example.org`,
					from: 'app@neighbour.example',
					subject: 'Your code',
					body: '<p>1234</p>',
				})
				.then(({ body }) => begun.set(JSON.parse(body).data.emails[0].email, at)),
		)
		await sleep(gapMs)
	}
	await Promise.all(asked)
	http.close()
	// Listing all its mails would delay the sink, so this waits for the last mail first.
	await sleep(settleMs)
	const arrived = new Map<string, number>()
	let seen = 0
	await until(
		async () => {
			const more = await sink.mails(seen)
			seen += more.length
			for (const { emailId, at } of more) arrived.set(emailId, at)
			return [...begun.keys()].every((id) => arrived.has(id))
		},
		60_000,
		500,
	)
	return [...begun].map(([id, at]) => (arrived.get(id) ?? Number.POSITIVE_INFINITY) - at)
}

/** Opens and clicks of an earlier campaign, while another one is sent. */
async function readers(stack: Stack, sink: SinkProcess, recipients: number): Promise<Row[]> {
	const alone = median([
		await timed(stack, sink),
		await timed(stack, sink),
		await timed(stack, sink),
	])
	const pool = await poolOf(stack.orm.em)
	const urls = await trackedUrlsOf(stack)
	const counted = async () =>
		(
			await pool.query<{ n: number }>(
				'select sum(opens + clicks + prefetches)::int as n from emails',
			)
		).rows[0]!.n
	const before = await counted()
	let isOver = false
	let asked = 0
	const reading = (async () => {
		const startedAt = performance.now()
		while (!isOver) {
			const due = ((performance.now() - startedAt) / 60_000) * opensPerMinute
			const batch = Array.from({ length: Math.max(0, Math.floor(due - asked)) }, () =>
				fetch(urls[asked++ % urls.length]!, { redirect: 'manual' }).then((answer) => answer.text()),
			)
			await Promise.all(batch)
			await sleep(20)
		}
	})()
	const rates = [await timed(stack, sink), await timed(stack, sink), await timed(stack, sink)]
	isOver = true
	await reading
	const isExact = await until(async () => (await counted()) === before + asked, 60_000, 200)
	const slower = (1 - median(rates) / alone) * 100
	return [
		{
			what: `${recipients} recipients beside ${opensPerMinute} opens and clicks a minute`,
			reached: `${slower.toFixed(0)} % slower, ${isExact ? 'counters exact' : `counted ${(await counted()) - before} of ${asked}`}`,
			target: '<= 20 % slower, counters exact',
			floor: `${alone.toFixed(0)} mails/s without`,
			isMet: slower <= 20 && isExact,
		},
	]
}

async function timed(stack: Stack, sink: SinkProcess) {
	await sink.forget()
	const id = await createCampaign(stack)
	await sendCampaign(stack, id)
	await ended(stack, id)
	const { accepted, firstAt, lastAt } = await sink.statistics()
	return (accepted / (lastAt - firstAt)) * 1000
}

/** Pixels and links of sent mails. */
async function trackedUrlsOf({ orm, projectId, apiUrl }: Stack) {
	const pool = await poolOf(orm.em)
	const { rows } = await pool.query<{ id: string; campaign_id: string }>(
		`select id, campaign_id from emails where project_id = $1 and status = 'SENT' and tracked limit 500`,
		[projectId],
	)
	return rows.flatMap(({ id, campaign_id }) => {
		const scope = { projectId, campaignId: campaign_id, emailId: id }
		const { open, click } = trackedUrls(trackingKey(secret), apiUrl, scope)
		return [open, click('https://shop.example/offer-1?utm_source=news')!]
	})
}

async function otherProject({ orm }: Stack) {
	const { secretKey, columns } = newKeys()
	const em = orm.em.fork()
	const project = em.create(Project, { name: 'Neighbour', ...columns })
	await em.flush()
	em.create(Domain, {
		projectId: project.id,
		domain: 'neighbour.example',
		verifiedAt: new Date(),
		sweepExempt: true,
	})
	await em.flush()
	return { secretKey }
}
