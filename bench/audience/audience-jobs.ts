import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { finished } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { poolOf } from '../../db/statement.ts'
import { client, median } from '../load.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'

const rows = 70_000
/** One bad row in this many: 1 %. */
const badEvery = 100
const kills = 5
const imports = 3
const bulkRounds = 5

interface Job {
	state: string
	failedReason: string | null
	createdAt: string
	finishedAt: string
	result: Record<string, number>
}

/** Imports, killed and not killed, and bulk jobs, among as many contacts as the stack's project has. */
export async function jobs(stack: Stack, contacts: number, wantedPerSecond: number) {
	const rates: number[] = []
	const verdicts = new Set<string>()
	const file = csv(`${contacts}-0`, rows)
	for (let i = 0; i < imports; i++) {
		const name = `${contacts}-${i}`
		const { rate, verdict } = await importing(stack, csv(name, rows), name)
		rates.push(rate)
		verdicts.add(verdict)
	}
	const rate = median(rates)
	const verdict = [...verdicts].join(', ')
	const floor = await bareCopy(stack, file)
	const killed = await killedImport(stack, `k-${contacts}`)
	const bulkMs = await bulk(stack)
	const size = `${(file.length / 2 ** 20).toFixed(1)} MB, ${rows.toLocaleString('en')} rows`
	const among = `${contacts.toLocaleString('en')} contacts`
	return [
		{
			what: `import of ${size} into ${among}, median of ${imports}`,
			reached: `${rate.toFixed(0)} rows/s (${rates.map((one) => one.toFixed(0)).join(', ')}), ${verdict}`,
			target: `>= ${wantedPerSecond.toLocaleString('en')} rows/s, every bad row named`,
			floor: `${floor.toFixed(0)} rows/s (bare COPY)`,
			isMet: rate >= wantedPerSecond && verdict === 'whole',
		},
		{
			what: `the same, worker killed ${kills} times`,
			reached: killed,
			target: 'same final state, nothing twice',
			floor: '',
			isMet: killed === 'whole',
		},
		{
			what: `bulk operation on 1,000 ids among ${among}, median of ${bulkRounds}`,
			reached: `${bulkMs.toFixed(0)} ms`,
			target: '<= 500 ms',
			floor: '',
			isMet: bulkMs <= 500,
		},
	] satisfies Row[]
}

/** Half of the addresses are those of `seedContacts`. */
function csv(name: string, count: number) {
	const lines = ['email,firstName,plan,city,subscribed']
	for (let i = 0; i < count; i++) {
		const email = i % 2 ? `${name}-${i}@new.example` : `contact-${i}@example.org`
		const given = i % badEvery === 50 ? `not an address ${i}` : email
		lines.push(
			`${given},Given ${i},plan ${i % 7} of ${name},City ${i % 1000},${i % 3 ? 'yes' : ''}`,
		)
	}
	return Buffer.from(lines.join('\n'))
}

async function importing(stack: Stack, file: Buffer, name: string) {
	const job = await ended(stack, await upload(stack, file), 'import')
	const ms = Date.parse(job.finishedAt) - Date.parse(job.createdAt)
	return { rate: (rows / ms) * 1000, verdict: await verdictOn(stack, job, name) }
}

/** Killed while it stages and while it applies, at arbitrary points. */
async function killedImport(stack: Stack, name: string) {
	const jobId = await upload(stack, csv(name, rows))
	for (let i = 0; i < kills; i++) {
		await sleep(300 + 250 * i)
		await stack.worker.stop('SIGKILL')
		await stack.worker.start()
		await until(stack, jobId)
	}
	return verdictOn(stack, await ended(stack, jobId, 'import'), name)
}

/** A new worker waits until heartbeats of the old one are missing. This waits until it continues. */
async function until(stack: Stack, jobId: string) {
	const position = await positionOf(stack, jobId)
	for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(5))
		if ((await positionOf(stack, jobId)) !== position) return
}

const positionOf = async (stack: Stack, jobId: string) =>
	(await ask<{ position: number }>(stack, 'select position from jobs where id = ?', [jobId]))
		.position

async function verdictOn(stack: Stack, { state, failedReason, result }: Job, name: string) {
	if (state !== 'completed') return `${state}: ${failedReason}`
	const bad = rows / badEvery
	const there = await ask<{ n: number }>(
		stack,
		`select count(*)::int as n from contacts where data->>'plan' like ?`,
		[`% of ${name}`],
	)
	const isWhole =
		result['totalRows'] === rows &&
		result['failureCount'] === bad &&
		result['successCount'] === rows - bad &&
		result['createdCount']! + result['updatedCount']! === rows - bad &&
		there.n === rows - bad
	return isWhole ? 'whole' : `${JSON.stringify(result).slice(0, 200)}, ${there.n} contacts`
}

async function bulk(stack: Stack) {
	const ids = await stack.orm.em
		.fork()
		.execute<{ id: string }[]>('select id from contacts where project_id = ? limit 1000', [
			stack.projectId,
		])
	const http = client(stack.apiUrl, stack.secretKey, 1)
	const taken: number[] = []
	for (let round = 0; round < bulkRounds; round++) {
		const startedAt = performance.now()
		const path = `/contacts/bulk-${round % 2 ? '' : 'un'}subscribe`
		const answer = await http.post(path, { contactIds: ids.map(({ id }) => id) })
		await ended(stack, JSON.parse(answer.body).jobId, 'bulk')
		taken.push(performance.now() - startedAt)
	}
	http.close()
	return median(taken)
}

async function upload({ apiUrl, secretKey }: Stack, file: Buffer) {
	const form = new FormData()
	form.append('file', new Blob([new Uint8Array(file)], { type: 'text/csv' }), 'contacts.csv')
	const headers = { authorization: `Bearer ${secretKey}` }
	const answer = await fetch(`${apiUrl}/contacts/import`, { method: 'POST', headers, body: form })
	if (answer.status !== 202) throw new Error(`The upload was refused: ${await answer.text()}`)
	return ((await answer.json()) as { jobId: string }).jobId
}

async function ended({ apiUrl, secretKey, worker }: Stack, jobId: string, kind: 'import' | 'bulk') {
	const headers = { authorization: `Bearer ${secretKey}` }
	for (const deadline = Date.now() + 120_000; Date.now() < deadline; await sleep(15)) {
		const answer = await fetch(`${apiUrl}/contacts/${kind}/${jobId}`, { headers })
		const job = (await answer.json()) as Job
		if (job.finishedAt) return job
	}
	throw new Error(`The job does not end:\n${worker.output()}`)
}

const ask = async <T>({ orm }: Stack, sql: string, values: unknown[]) =>
	(await orm.em.fork().execute<T[]>(sql, values))[0]!

/** The floor: the file's own lines into a bare table. */
async function bareCopy({ orm }: Stack, file: Buffer) {
	const db = await (await poolOf(orm.em)).connect()
	try {
		await db.query(
			'create temp table bare (email text, name text, plan text, city text, word text)',
		)
		const startedAt = performance.now()
		const stream = db.query(copyFrom('copy bare from stdin (format csv, header)'))
		stream.end(file)
		await finished(stream)
		return (rows / (performance.now() - startedAt)) * 1000
	} finally {
		db.release(true)
	}
}
