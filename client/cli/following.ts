import type { Activity, Tempost } from '../index.ts'

const pauseMs = 1000
/** An activity may be recorded some seconds after its time, so that each look goes back a little. */
const overlapMs = 60_000
const pageSize = 100
/** Repetitions after a fault: together they last about a minute, in which a service is started again. */
const retries = 10

/** New activities as they happen, oldest first, each once. */
export async function* follow(
	tempost: Tempost,
	since: Date,
	signal: AbortSignal,
	types?: string[],
) {
	const seen = new Map<string, number>()
	for (let latest = since.getTime(); ;) {
		const earliest = Math.max(since.getTime(), latest - overlapMs)
		const query = { startDate: new Date(earliest).toISOString(), ...(types && { types }) }
		const fresh = await unseen(tempost, query, seen, signal)
		yield* fresh
		for (const activity of fresh) {
			const time = Date.parse(activity.timestamp)
			seen.set(keyOf(activity), time)
			latest = Math.max(latest, time)
		}
		for (const [key, time] of seen) if (time < latest - 2 * overlapMs) seen.delete(key)
		await pause(signal)
		if (signal.aborted) return
	}
}

/** Stops at a whole page of known ones: a large campaign is not read again each second. */
async function unseen(
	tempost: Tempost,
	query: { startDate: string; types?: string[] },
	seen: Map<string, number>,
	signal: AbortSignal,
) {
	const fresh: Activity[] = []
	let known = 0
	const list = tempost.activity.list({ ...query, limit: pageSize }, { signal, retries })
	for await (const activity of list) {
		const isKnown = seen.has(keyOf(activity))
		if (!isKnown) fresh.push(activity)
		known = isKnown ? known + 1 : 0
		if (known === pageSize) break
	}
	return fresh.toReversed()
}

/** Activities of one mail may share its id. */
const keyOf = ({ id, type, timestamp }: Activity) => `${id} ${type} ${timestamp}`

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
