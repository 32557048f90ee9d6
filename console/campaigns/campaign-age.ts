import type { Campaign } from '../../client/index.ts'

const day = 86_400_000

const ageOf = ({ sentAt }: Campaign) => (sentAt ? Date.now() - new Date(sentAt).getTime() : 0)

/** Whether its readers may still open it in numbers. */
export const isRecent = (campaign: Campaign) => ageOf(campaign) < 7 * day

/** The length of steps that shows the course of a campaign best. Minutes are kept for the first day. */
export function bestInterval(campaign: Campaign) {
	const age = ageOf(campaign)
	return age < day / 4 ? 'minute' : age < 14 * day ? 'hour' : 'day'
}
