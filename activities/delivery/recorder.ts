import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptEnd } from '../../db/emails/ledger.ts'
import { countEnds } from './settled-counts.ts'

/** How long outcomes that we know are held in memory while the database is away. */
const holdMs = 60_000

/** An attempt that has ended, with whatever else is to be written of it. */
interface Ended {
	end: AttemptEnd
}

export interface RecorderOptions<T> {
	write(items: T[]): Promise<unknown>
	/** Attempts that end within this time are written together. */
	gatherMs: number
	/** So many are written at once, without waiting for more. */
	enough?(): number
}

/**
 * Writes the ends of attempts, those that came together in one statement. The database may be away for
 * a while: what is known must not turn into doubt, so it is tried again for a minute.
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
		/** Resolves once it is in the ledger. `alone`: nothing else is under way that could join it. */
		record: (item: T, alone: boolean) =>
			new Promise<void>((done, failed) => {
				waiting.push({ item, done, failed })
				if (alone && !isWriting) void writeAll()
				else writeSoon()
			}),
	}
}

/** Writes all of them, or throws once all have been written that could be. */
export async function insistOnAll<T>(items: T[], write: (some: T[]) => Promise<unknown>) {
	for (const [, error] of await insist(items, write)) throw error
}

/**
 * Tries to write for so long; then somebody else has to find out what became of these mails. Returns
 * those that were not written, and why: one that Postgres cannot hold does not keep the others out.
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

/** Data exceptions are class 22: no later try would fare better. */
const isAboutData = (error: unknown) =>
	error instanceof Error && 'code' in error && String(error.code).startsWith('22')
