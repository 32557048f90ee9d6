import type { Suppression } from '../../client/index.ts'
import { textParam } from '../parts/text-param.ts'

/** The reasons, and how they came about. */
export const reasons = [
	{ value: 'BOUNCE', name: 'Bounced', tone: 'bad' },
	{ value: 'COMPLAINT', name: 'Reported as spam', tone: 'bad' },
	{ value: 'UNSUBSCRIBED_ALL', name: 'Wants no mail', tone: 'warn' },
	{ value: 'MANUAL', name: 'Added by hand', tone: 'none' },
] as const satisfies { value: Suppression['reason']; name: string; tone: string }[]

export interface SuppressionFilters {
	search?: string | undefined
	reason?: Suppression['reason'] | undefined
}

export const readSuppressionFilters = ({
	search,
	reason,
}: Record<string, unknown>): SuppressionFilters => ({
	search: textParam(search),
	reason: reasons.find(({ value }) => value === reason)?.value,
})
