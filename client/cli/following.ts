import { TempostError } from '../index.ts'
import { type Context, isAway } from './command.ts'

type Watch = Pick<Context, 'out' | 'signal'>

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
/** Few for one look, so that an absent service is reported soon. */
export const retries = 1
const longestPauseMs = 60_000

/** New items as they come, oldest first, each once. Without a time, those that come from now on by the service's clock. */
export async function* follow<Item>(feed: Feed<Item>, start: Date | undefined, context: Watch) {
	const { signal } = context
	const seen = new Map<string, number>()
	const since = start?.getTime() ?? (await passNewest(feed, seen))
	for (let latest = since, isFirst = true; ; isFirst = false) {
		const earliest = latest === undefined ? undefined : Math.max(since ?? 0, latest - overlapMs)
		const look = () => unseen(feed, earliest === undefined ? undefined : new Date(earliest), seen)
		const fresh = isFirst ? await look() : await patiently(context, look)
		yield* fresh
		for (const item of fresh) {
			const time = Date.parse(feed.timeOf(item))
			seen.set(feed.keyOf(item), time)
			latest = Math.max(latest ?? 0, time)
		}
		for (const [key, time] of seen) if (latest && time < latest - 2 * overlapMs) seen.delete(key)
		await pause(signal, pauseMs)
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

/** Looks until the service answers. Not for a first look, whose address may be wrong. */
export async function patiently<Found>({ out, signal }: Watch, look: () => Promise<Found>) {
	for (let wasAway = false; ; wasAway = true)
		try {
			const found = await look()
			if (wasAway) out.note('The service answers again.')
			return found
		} catch (error) {
			signal.throwIfAborted()
			if (!(error instanceof TempostError && isAway(error))) throw error
			const { message, code, retryAfterSeconds = 0 } = error
			if (!wasAway) out.note(`${message} (${code}). Asking again until the service answers.`)
			await pause(signal, Math.min(Math.max(pauseMs, retryAfterSeconds * 1000), longestPauseMs))
		}
}

/** A command that runs until Ctrl-C ends well by it, also in the middle of a request. */
export async function untilStopped<Result>(signal: AbortSignal, run: () => Promise<Result>) {
	try {
		return await run()
	} catch (error) {
		if (!signal.aborted) throw error
		return undefined
	}
}

const pause = (signal: AbortSignal, ms: number) =>
	new Promise<void>((resolve) => {
		const ended = () => {
			clearTimeout(timer)
			signal.removeEventListener('abort', ended)
			resolve()
		}
		const timer = setTimeout(ended, ms)
		signal.addEventListener('abort', ended)
	})
