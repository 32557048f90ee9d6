import { useSyncExternalStore } from 'react'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

interface Props {
	at: string | null | undefined
	/** `ago`: 5 min ago, for a day. `clock`: 14:03:22, for steps of one process. */
	as?: 'ago' | 'date' | 'clock'
}

/** A moment in the zone of its reader, with the exact one on hover. */
export function Time({ at, as = 'ago' }: Props) {
	useClock(as === 'ago')
	if (!at) return <span>–</span>
	const date = new Date(at)
	return (
		<time dateTime={at} title={exact.format(date)}>
			{as === 'clock' ? clock.format(date) : as === 'date' ? short.format(date) : ago(date)}
		</time>
	)
}

const tickMs = 10_000
const tick = () => Math.floor(Date.now() / tickMs)
const never = () => () => {}

function follow(tell: () => void) {
	const timer = setInterval(tell, tickMs)
	return () => clearInterval(timer)
}

/** Renews relative times on a page that stays open. */
const useClock = (isTicking: boolean) => useSyncExternalStore(isTicking ? follow : never, tick)

const minute = 60
const hour = 60 * minute
const day = 24 * hour

function ago(date: Date) {
	const seconds = Math.round((date.getTime() - Date.now()) / 1000)
	const size = Math.abs(seconds)
	if (size < minute) return relative.format(seconds, 'second')
	if (size < hour) return relative.format(Math.trunc(seconds / minute), 'minute')
	if (size < day) return relative.format(Math.trunc(seconds / hour), 'hour')
	return short.format(date)
}
