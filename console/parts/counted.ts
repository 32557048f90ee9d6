import { formatCount } from './figures.tsx'

/** `1 contact`, `1,200 contacts`. */
export const counted = (count: number, noun: string) =>
	`${formatCount(count)} ${count === 1 ? noun : `${noun}s`}`
