/** A list that is read again and again. */
export interface Feed<Item> {
	/** Newest first; all of it without a time. */
	list(since: Date | undefined): AsyncIterable<Item>
	timeOf(item: Item): string
	keyOf(item: Item): string
}

const pauseMs = 1000
/** An item may be recorded some seconds after its time, so that each look goes back a little. */
const overlapMs = 60_000
export const pageSize = 100
/** Repetitions after a fault: together they last about a minute, in which a service is started again. */
export const retries = 10

/** New items as they come, oldest first, each once. Without a time, those that come from now on by the service's clock. */
export async function* follow<Item>(
	feed: Feed<Item>,
	start: Date | undefined,
	signal: AbortSignal,
) {
	const seen = new Map<string, number>()
	const since = start?.getTime() ?? (await passNewest(feed, seen))
	for (let latest = since; ;) {
		const earliest = latest === undefined ? undefined : Math.max(since ?? 0, latest - overlapMs)
		const fresh = await unseen(feed, earliest === undefined ? undefined : new Date(earliest), seen)
		yield* fresh
		for (const item of fresh) {
			const time = Date.parse(feed.timeOf(item))
			seen.set(feed.keyOf(item), time)
			latest = Math.max(latest ?? 0, time)
		}
		for (const [key, time] of seen) if (latest && time < latest - 2 * overlapMs) seen.delete(key)
		await pause(signal)
		if (signal.aborted) return
	}
}

/** What is there already; the time of the newest, if there is one. */
async function passNewest<Item>({ list, timeOf, keyOf }: Feed<Item>, seen: Map<string, number>) {
	for await (const item of list(undefined)) {
		seen.set(keyOf(item), Date.parse(timeOf(item)))
		if (seen.size === pageSize) break
	}
	return seen.size > 0 ? Math.max(...seen.values()) : undefined
}

/** Stops at a whole page of known ones: a large campaign is not read again each second. */
async function unseen<Item>(
	{ list, keyOf }: Feed<Item>,
	since: Date | undefined,
	seen: Map<string, number>,
) {
	const fresh: Item[] = []
	let known = 0
	for await (const item of list(since)) {
		const isKnown = seen.has(keyOf(item))
		if (!isKnown) fresh.push(item)
		known = isKnown ? known + 1 : 0
		if (known === pageSize) break
	}
	return fresh.toReversed()
}

/** A command that runs until Ctrl-C ends well by it, also in the middle of a request. */
export async function untilStopped(signal: AbortSignal, run: () => Promise<void>) {
	try {
		await run()
	} catch (error) {
		if (!signal.aborted) throw error
	}
}

const pause = (signal: AbortSignal) =>
	new Promise<void>((resolve) => {
		const ended = () => {
			clearTimeout(timer)
			signal.removeEventListener('abort', ended)
			resolve()
		}
		const timer = setTimeout(ended, pauseMs)
		signal.addEventListener('abort', ended)
	})
