import type { Activity, Tempost } from '../index.ts'

const pauseMs = 1000
/** Activities are recorded some seconds after their time, so that a look goes back a little. */
const overlapMs = 60_000

/** New activities as they happen, oldest first, each once. */
export async function* follow(
	tempost: Tempost,
	since: Date,
	signal: AbortSignal,
	types?: string[],
) {
	let seen = new Map<string, number>()
	for (let from = since.getTime(); ;) {
		const startDate = new Date(Math.max(since.getTime(), from - overlapMs)).toISOString()
		const found: Activity[] = []
		const query = { startDate, limit: 100, ...(types && { types }) }
		for await (const activity of tempost.activity.list(query, { signal })) found.push(activity)
		const fresh = found.filter((activity) => !seen.has(keyOf(activity))).toReversed()
		yield* fresh
		seen = new Map(found.map((activity) => [keyOf(activity), 0]))
		from = Math.max(from, ...found.map(({ timestamp }) => Date.parse(timestamp)))
		await pause(signal)
		if (signal.aborted) return
	}
}

/** The activities of one mail share its id. */
const keyOf = ({ id, type, timestamp }: Activity) => `${id} ${type} ${timestamp}`

const pause = (signal: AbortSignal) =>
	new Promise<void>((resolve) => {
		const timer = setTimeout(resolve, pauseMs)
		signal.addEventListener('abort', () => {
			clearTimeout(timer)
			resolve()
		})
	})
