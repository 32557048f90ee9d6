import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type Ended, recordAllEnds } from '../../db/emails/ledger.ts'
import { countEnds } from './settled-counts.ts'

/** How long known outcomes are kept in memory while the database is unavailable, from the first failure on. */
const longestHoldMs = 60_000

interface RecorderOptions {
	write(ended: Ended[]): Promise<unknown>
	/** Attempts that end within this time are written together. */
	gatherMs: number
	/** This many attempts are written at once, without waiting for more. */
	enough?: (() => number) | undefined
	holdMs?: number
}

/**
 * Records ended attempts, several in one statement. Known outcomes must not turn into doubt, so writing is
 * retried for a minute while the database is unavailable.
 */
export function createRecorder({
	write,
	gatherMs,
	enough = () => Infinity,
	holdMs = longestHoldMs,
}: RecorderOptions) {
	let waiting: { ended: Ended[]; done: () => void; failed: (error: unknown) => void }[] = []
	let count = 0
	let isWriting = false
	let timer: NodeJS.Timeout | undefined

	async function writeAll() {
		clearTimeout(timer)
		timer = undefined
		isWriting = true
		const batch = waiting
		waiting = []
		count = 0
		const all = batch.flatMap(({ ended }) => ended)
		const failures = await insist(all, write, holdMs)
		countEnds(all.filter((one) => !failures.has(one)).map(({ end }) => end))
		for (const { ended, done, failed } of batch) {
			const unwritten = ended.find((one) => failures.has(one))
			if (unwritten) failed(failures.get(unwritten))
			else done()
		}
		isWriting = false
		writeSoon()
	}

	function writeSoon() {
		if (isWriting || waiting.length === 0) return
		if (count >= enough()) void writeAll()
		else timer ??= setTimeout(() => void writeAll(), gatherMs)
	}

	return {
		isIdle: () => !isWriting && waiting.length === 0,
		/**
		 * Resolves once these attempts are in the ledger. `alone`: no other hand-over is under way that could
		 * share the statement.
		 */
		record: (ended: Ended[], alone: boolean) =>
			new Promise<void>((done, failed) => {
				waiting.push({ ended, done, failed })
				count += ended.length
				if (alone && !isWriting) void writeAll()
				else writeSoon()
			}),
	}
}

/** Under load, more mails share the record than wait for it. */
const gatherMs = 20
/** The mails of a campaign in hand are limited, so they may wait until as many are recorded as are claimed at once. */
const gatherEnoughMs = 60

export type RecordTogether = ReturnType<typeof createRecords>

/**
 * A recorder for each project, which all its runs, or all lanes of its campaigns, share. `enough`: so many are worth a
 * statement.
 */
export function createRecords(pool: Pool, enough?: () => number) {
	const recorders = new Map<string, ReturnType<typeof createRecorder>>()
	// Projects share the mails in hand, so none waits for as many as all have.
	const options = enough
		? { enough: () => enough() / recorders.size, gatherMs: gatherEnoughMs }
		: { gatherMs }
	return async (projectId: string, ended: Ended[], alone: boolean) => {
		const write = (some: Ended[]) => recordAllEnds(pool, projectId, some)
		const recorder = recorders.get(projectId) ?? createRecorder({ write, ...options })
		recorders.set(projectId, recorder)
		await recorder.record(ended, alone)
		if (recorder.isIdle() && recorders.get(projectId) === recorder) recorders.delete(projectId)
	}
}

/**
 * Retries for a minute. After that, other workers have to find out what became of these mails. Returns the
 * items that were not written, with their errors: an item that Postgres can't store doesn't block the
 * others.
 */
async function insist<T>(
	items: T[],
	write: (some: T[]) => Promise<unknown>,
	holdMs: number,
): Promise<Map<T, unknown>> {
	if (items.length === 0) return new Map()
	// A single try may take longer than a minute.
	let giveUpAt: number | undefined
	for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000))
		try {
			await write(items)
			return new Map()
		} catch (error) {
			if (isAboutData(error)) {
				if (items.length === 1) return new Map([[items[0]!, error]])
				const half = items.length >> 1
				const failures = await insist(items.slice(0, half), write, holdMs)
				return new Map([...failures, ...(await insist(items.slice(half), write, holdMs))])
			}
			giveUpAt ??= performance.now() + holdMs
			if (performance.now() + pauseMs > giveUpAt) return new Map(items.map((item) => [item, error]))
			await sleep(pauseMs)
		}
}

/** Class 22, data exceptions: every retry would fail too. */
const isAboutData = (error: unknown) =>
	error instanceof Error && 'code' in error && String(error.code).startsWith('22')
