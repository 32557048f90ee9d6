import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from '../build/build.ts'
import { isFresh } from '../build/freshness.ts'
import type { Servers } from '../local/servers.ts'
import { median } from './load.ts'
import { prepareStack, type Service } from './stack.ts'
import type { Row } from './table.ts'

const rounds = 5
/** After its start, a process still gives memory back. */
const idleMs = 20_000

/** How long compiled processes take to start, and what they need when nothing happens. */
export async function bench(servers: Servers): Promise<Row[]> {
	if (!isFresh()) await build()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	try {
		const bare = `${(await medianOf(bareMs)).toFixed(0)} ms (bare node)`
		const row = async (what: string, service: Service, mostMs: number): Promise<Row> => {
			const ms = await medianOf(() => startMs(service))
			const target = `<= ${mostMs} ms`
			return { what, reached: `${ms.toFixed(0)} ms`, target, floor: bare, isMet: ms <= mostMs }
		}
		const rows = [
			await row('start of the API until /health answers', stack.api, 1500),
			await row('start of a worker until it takes work', stack.worker, 3000),
		]
		await sleep(idleMs)
		return [
			...rows,
			memory('idle memory of the API', stack.api, 150),
			memory('idle memory of a worker', stack.worker, 230),
		]
	} finally {
		await stack.stop()
	}
}

async function medianOf(measure: () => Promise<number>) {
	const figures: number[] = []
	for (let round = 0; round < rounds; round++) figures.push(await measure())
	return median(figures)
}

/** Leaves the process running. */
async function startMs(service: Service) {
	await service.stop()
	const startedAt = performance.now()
	await service.start()
	return performance.now() - startedAt
}

async function bareMs() {
	const startedAt = performance.now()
	await once(spawn(process.execPath, ['--eval', '0']), 'exit')
	return performance.now() - startedAt
}

/** Memory that processes share counts in part: the proportional set size. */
function memory(what: string, service: Service, mostMb: number): Row {
	const [, kb] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${service.pid()}/smaps_rollup`, 'utf8'))!
	const mb = Number(kb) / 1024
	const target = `<= ${mostMb} MB`
	return { what, reached: `${mb.toFixed(0)} MB`, target, floor: '', isMet: mb <= mostMb }
}
