import { formatCount } from './figures.tsx'

/** `1 contact`, `1,200 contacts`. */
export const counted = (count: number, noun: string) =>
	`${formatCount(count)} ${count === 1 ? noun : `${noun}s`}`

/** The service counts long lists no further. */
export const mostCounted = 10_000

/** `7`, or `10,000 or more`. */
export const countedUpToMost = (count: number) =>
	count < mostCounted ? formatCount(count) : `${formatCount(mostCounted)} or more`
