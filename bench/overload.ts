import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { trackedUrls, trackingKey } from '../mail/tracked-urls.ts'
import type { Servers } from '../local/servers.ts'
import { peakMb } from './cpu.ts'
import { type Answer, client, percentile, rateOf, underLoad } from './load.ts'
import { startSink } from './sink.ts'
import { prepareStack, type Stack } from './stack.ts'
import type { Row } from './table.ts'

const connections = 32
const times = 3
const loadMs = 15_000
/** More than the API accepts at a time. Each has a connection and waits for its answer. */
const callers = 600
const secret = 'a secret of the benchmark, known to it'

/**
 * Sends three times as many requests as the API can handle, and measures the accepted and the refused
 * ones.
 */
export async function bench(servers: Servers): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		SESSION_SECRET: secret,
	})
	const http = client(stack.apiUrl, stack.secretKey, callers)
	let sends = 0
	const send = () =>
		http.post('/v1/send', {
			to: `load-${sends++}@example.org`,
			from: 'bench@example.com',
			subject: 'Load',
			body: '<p>Load</p>',
		})
	try {
		await stack.api.start()
		await stack.worker.start()
		await rateOf(callers, 3000, send) // warm, and all are connected
		const alone = await underLoad({ connections, rounds: 3, roundMs: 4000 }, send)
		const others = watch(stack)
		const { answers, offered } = await flood(send, alone.rate * times)
		const beside = await others.end()
		const recoveryMs = await recovered(send, alone.p99)
		return report(alone, answers, offered, beside, recoveryMs, peakMb(stack.api.pid()))
	} finally {
		http.close()
		await stack.stop()
		await sink.close()
	}
}

/** Makes this many requests a second, without waiting for answers; waiting callers would run out. */
async function flood(send: () => Promise<Answer>, perSecond: number) {
	const asked: Promise<Answer>[] = []
	let waiting = 0
	const startedAt = performance.now()
	let due = 0
	for (let ms = 0; ms < loadMs; ms = performance.now() - startedAt) {
		for (; due < (ms / 1000) * perSecond; due++) {
			if (waiting === callers) continue
			waiting++
			asked.push(send().finally(() => waiting--))
		}
		await sleep(2)
	}
	return { answers: await Promise.all(asked), offered: (asked.length / loadMs) * 1000 }
}

/** Meanwhile reads mails and the API's health, as a balancer does, and watches Postgres' connections. */
function watch({ apiUrl, projectId, databaseUrl, orm }: Stack) {
	const emailId = crypto.randomUUID()
	const { open } = trackedUrls(trackingKey(secret), apiUrl, {
		projectId,
		campaignId: null,
		emailId,
	})
	const name = new URL(databaseUrl).pathname.slice(1)
	const taken: number[] = []
	let failures = 0
	let sessions = 0
	let isOver = false
	const asking = (async () => {
		for (; !isOver; await sleep(100)) {
			for (const url of [open, `${apiUrl}/health`]) {
				const at = performance.now()
				const { ok } = await fetch(url)
				taken.push(performance.now() - at)
				if (!ok) failures += 1
			}
			const [row] = await orm.em.fork().execute<{ n: number }[]>(
				`select count(*)::int as n from pg_stat_activity
				where datname = ? and pid <> pg_backend_pid()`,
				[name],
			)
			sessions = Math.max(sessions, row!.n)
		}
	})()
	return {
		async end() {
			isOver = true
			await asking
			return { p99: percentile(taken, 0.99), failures, sessions }
		},
	}
}

/** Waits until requests, one after the other, are answered as fast as before. */
async function recovered(send: () => Promise<Answer>, usualMs: number) {
	const startedAt = performance.now()
	for (let good = 0; good < 20;) {
		const { status, ms } = await send()
		good = status === 200 && ms <= usualMs ? good + 1 : 0
		if (good === 1 && performance.now() - startedAt > 60_000) break
	}
	return performance.now() - startedAt
}

function report(
	alone: { rate: number; p99: number },
	answers: Answer[],
	offered: number,
	beside: { p99: number; failures: number; sessions: number },
	recoveryMs: number,
	memoryMb: number,
): Row[] {
	const taken = answers.filter(({ status }) => status === 200)
	const refused = answers.filter(({ status }) => status === 503 || status === 429)
	const p99 = (some: Answer[]) =>
		percentile(
			some.map(({ ms }) => ms),
			0.99,
		)
	const perSecond = (taken.length / loadMs) * 1000
	const floor = `${alone.rate.toFixed(0)}/s, p99 ${alone.p99.toFixed(0)} ms on ${connections} connections`
	const strange = answers.length - taken.length - refused.length
	return [
		{
			what: `${offered.toFixed(0)} requests a second, ${times} times what can be sustained: taken`,
			reached: `${perSecond.toFixed(0)}/s`,
			target: '>= half of what can be sustained',
			floor,
			isMet: perSecond >= alone.rate / 2,
		},
		{
			what: 'p99 of those that are taken',
			reached: `${p99(taken).toFixed(0)} ms`,
			target: '<= 1,000 ms',
			floor: '',
			isMet: p99(taken) <= 1000,
		},
		{
			what: 'refused with 503',
			reached: `${((refused.length / answers.length) * 100).toFixed(0)} %, p99 ${p99(refused).toFixed(0)} ms`,
			target: 'p99 <= 500 ms, nothing else than 200 and 503',
			floor: `${strange} others`,
			isMet: p99(refused) <= 500 && strange === 0,
		},
		{
			what: 'opens and /health meanwhile, p99',
			reached: `${beside.p99.toFixed(0)} ms, ${beside.failures} failed`,
			target: '<= 500 ms, none fails',
			floor: '',
			isMet: beside.p99 <= 500 && beside.failures === 0,
		},
		{
			what: 'as fast as before again, after',
			reached: `${recoveryMs.toFixed(0)} ms`,
			target: '<= 5,000 ms',
			floor: '',
			isMet: recoveryMs <= 5000,
		},
		{
			what: 'most memory of the API, most connections to Postgres',
			reached: `${memoryMb} MB, ${beside.sessions}`,
			target: '<= 1,024 MB, <= 50 (20 of the API, 30 of the worker)',
			floor: '',
			isMet: memoryMb <= 1024 && beside.sessions <= 52,
		},
	]
}
