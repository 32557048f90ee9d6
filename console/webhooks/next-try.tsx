import { Time } from '../parts/time.tsx'

/** When a delivery is tried next. */
export function NextTry({ at }: { at: string | null }) {
	if (at === null) return <span>–</span>
	return Date.parse(at) <= Date.now() ? <span>Due now</span> : <Time at={at} />
}
