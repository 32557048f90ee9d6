import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { poolOf } from '../../db/statement.ts'
import { trackedUrls, trackingKey } from '../../mail/tracked-urls.ts'
import { client, median, until } from '../load.ts'
import type { SinkProcess } from '../sink.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { createCampaign, ended, limitRate, sendCampaign } from './campaign-run.ts'

const rounds = 3
const perMinute = 10_000
const mostSlowerPercent = 10
const mailsRead = 10_000
const connections = 32
const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Thunderbird/140.4.0' }

/** Opens and clicks of earlier campaigns, while another one is sent: in turn without and with them. */
export async function readers(
	stack: Stack,
	sink: SinkProcess,
	{ recipients, secret }: { recipients: number; secret: string },
): Promise<Row[]> {
	await limitRate(stack, 0)
	await timed(stack, sink) // warms every process up, and there are mails to be read
	const paths = await trackedPathsOf(stack, secret)
	const before = await counted(stack)
	const without: number[] = []
	const beside: number[] = []
	let asked = 0
	let failed = 0
	let readForMs = 0
	for (let round = 0; round < rounds; round++) {
		without.push(await timed(stack, sink))
		const reading = read(stack, (i) => paths[(asked + i) % paths.length]!)
		const rate = await timed(stack, sink)
		const done = await reading.end()
		beside.push(rate)
		asked += done.asked
		failed += done.failed
		readForMs += done.ms
		if (!(await until(async () => (await counted(stack)) - before >= asked - failed, 60_000, 200)))
			break
	}
	const missing = asked - ((await counted(stack)) - before)
	const slower = (1 - median(beside) / median(without)) * 100
	return [
		{
			what: `${recipients} recipients beside ${((asked / readForMs) * 60_000).toFixed(0)} opens and clicks a minute, median of ${rounds}`,
			reached: `${median(beside).toFixed(0)} mails/s, ${slower.toFixed(0)} % slower`,
			target: `<= ${mostSlowerPercent} % slower`,
			floor: `${median(without).toFixed(0)}/s without`,
			isMet: slower <= mostSlowerPercent,
		},
		{
			what: 'those opens and clicks, as counted afterwards',
			reached: `${asked - missing}, ${failed} failed`,
			target: 'all',
			floor: `${asked} sent`,
			isMet: missing === 0 && failed === 0,
		},
	]
}

/** Asks at a steady rate until its end. If answers are late, it catches up. */
function read({ apiUrl }: Stack, path: (i: number) => string) {
	const http = client(apiUrl, '', connections)
	const startedAt = performance.now()
	const open = new Set<Promise<unknown>>()
	let isOver = false
	let asked = 0
	let failed = 0
	const ask = async (i: number) => {
		const { status } = await http.get(path(i), headers)
		if (status !== 200 && status !== 302) failed++
	}
	const asking = (async () => {
		for (; !isOver; await sleep(20))
			while (asked < ((performance.now() - startedAt) / 60_000) * perMinute) {
				const answer = ask(asked++)
				open.add(answer)
				void answer.finally(() => open.delete(answer))
			}
	})()
	return {
		async end() {
			isOver = true
			const ms = performance.now() - startedAt
			await asking
			await Promise.all(open)
			http.close()
			return { asked, failed, ms }
		},
	}
}

/** Opens and clicks in the ledger: those by machines are counted apart. */
async function counted({ orm }: Stack) {
	const pool = await poolOf(orm.em)
	const { rows } = await pool.query<{ n: number }>(
		'select sum(opens + clicks + prefetches)::int as n from emails',
	)
	return rows[0]!.n
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
async function trackedPathsOf({ orm, projectId, apiUrl }: Stack, secret: string) {
	const pool = await poolOf(orm.em)
	const { rows } = await pool.query<{ id: string; campaign_id: string }>(
		`select id, campaign_id from emails where project_id = $1 and status = 'SENT' and tracked limit $2`,
		[projectId, mailsRead],
	)
	return rows.flatMap(({ id, campaign_id }) => {
		const scope = { projectId, campaignId: campaign_id, emailId: id }
		const { open, click } = trackedUrls(trackingKey(secret), apiUrl, scope)
		return [open, click('https://shop.example/offer-1?utm_source=news')!].map((url) =>
			url.slice(apiUrl.length),
		)
	})
}
