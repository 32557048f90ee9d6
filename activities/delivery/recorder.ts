import { setTimeout as sleep } from 'node:timers/promises'
import type { Ended } from '../../db/emails/ledger.ts'
import { countEnds } from './settled-counts.ts'

/** How long known outcomes are kept in memory while the database is unavailable. */
const holdMs = 60_000

export interface RecorderOptions<T> {
	write(items: T[]): Promise<unknown>
	/** Attempts that end within this time are written together. */
	gatherMs: number
	/** This many attempts are written at once, without waiting for more. */
	enough?(): number
}

/**
 * Records ended attempts, several in one statement. Known outcomes must not turn into doubt, so writing is
 * retried for a minute while the database is unavailable.
 */
export function createRecorder<T extends Ended>({
	write,
	gatherMs,
	enough = () => Infinity,
}: RecorderOptions<T>) {
	let waiting: { item: T; done: () => void; failed: (error: unknown) => void }[] = []
	let isWriting = false
	let timer: NodeJS.Timeout | undefined

	async function writeAll() {
		clearTimeout(timer)
		timer = undefined
		isWriting = true
		const batch = waiting
		waiting = []
		const failures = await insist(batch, (some) => write(some.map(({ item }) => item)))
		countEnds(batch.filter((one) => !failures.has(one)).map(({ item }) => item.end))
		for (const one of batch)
			if (failures.has(one)) one.failed(failures.get(one))
			else one.done()
		isWriting = false
		writeSoon()
	}

	function writeSoon() {
		if (isWriting || waiting.length === 0) return
		if (waiting.length >= enough()) void writeAll()
		else timer ??= setTimeout(() => void writeAll(), gatherMs)
	}

	return {
		/**
		 * Resolves once the attempt is in the ledger. `alone`: no other hand-over is under way that could share
		 * the statement.
		 */
		record: (item: T, alone: boolean) =>
			new Promise<void>((done, failed) => {
				waiting.push({ item, done, failed })
				if (alone && !isWriting) void writeAll()
				else writeSoon()
			}),
	}
}

/** Writes all items. If some can't be written, it writes the others first and then throws. */
export async function insistOnAll<T>(items: T[], write: (some: T[]) => Promise<unknown>) {
	for (const [, error] of await insist(items, write)) throw error
}

/**
 * Retries for a minute. After that, other workers have to find out what became of these mails. Returns the
 * items that were not written, with their errors: an item that Postgres can't store doesn't block the
 * others.
 */
async function insist<T>(
	items: T[],
	write: (some: T[]) => Promise<unknown>,
): Promise<Map<T, unknown>> {
	if (items.length === 0) return new Map()
	const giveUpAt = performance.now() + holdMs
	for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000))
		try {
			await write(items)
			return new Map()
		} catch (error) {
			if (isAboutData(error)) {
				if (items.length === 1) return new Map([[items[0]!, error]])
				const half = items.length >> 1
				const failures = await insist(items.slice(0, half), write)
				return new Map([...failures, ...(await insist(items.slice(half), write))])
			}
			if (performance.now() + pauseMs > giveUpAt) return new Map(items.map((item) => [item, error]))
			await sleep(pauseMs)
		}
}

/** Class 22, data exceptions: every retry would fail too. */
const isAboutData = (error: unknown) =>
	error instanceof Error && 'code' in error && String(error.code).startsWith('22')
