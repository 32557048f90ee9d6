import { counted } from '../parts/counted.ts'
import type { CampaignValues } from './campaign-values.ts'

export const countOf = (count: number) => counted(count, 'contact')

/** The audience of values that are complete. */
export const valuesToCount = ({
	type,
	audienceType,
	segmentId,
	audienceCondition,
}: CampaignValues) => ({
	type,
	audienceType,
	...(audienceType === 'SEGMENT' && { segmentId }),
	...(audienceType === 'FILTERED' && { audienceCondition }),
})

/** A moment as the field for times takes it, without its zone; by default the next full hour. */
export function nextHour(at: string | null) {
	const date = at ? new Date(at) : new Date(Math.ceil(Date.now() / 3_600_000 + 0.01) * 3_600_000)
	return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
