import { Time } from '../parts/time.tsx'

interface Props {
	at: string | null
	/** Until then the endpoint gets nothing. */
	restingUntil?: string | null
}

/** When a delivery is tried next. */
export function NextTry({ at, restingUntil }: Props) {
	if (at === null) return <span>–</span>
	const next = restingUntil && restingUntil > at ? restingUntil : at
	return Date.parse(next) <= Date.now() ? <span>Due now</span> : <Time at={next} />
}
