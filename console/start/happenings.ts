import type { Activity, ListActivityAnswer } from '../../client/index.ts'
import { passageOf } from '../contacts/activity-moment.tsx'
import { textOf } from '../parts/text-of.ts'

/** The newest of the same happenings, and those before it. */
export interface Happening {
	newest: Activity
	earlier: number
	/** There may be more than were read. */
	isCut: boolean
}

/**
 * Happenings by what they are about, newest first: a campaign, a segment, a workflow, a template or an event that many
 * people have would otherwise be all that is seen.
 */
export const happeningsOf = (readings: ListActivityAnswer[]): Happening[] =>
	readings
		.flatMap(({ data, hasMore }) =>
			[...Map.groupBy(data, keyOf).values()].map((same) => ({
				newest: same.length > 1 ? aboutAll(same) : same[0]!,
				earlier: same.length - 1,
				isCut: hasMore,
			})),
		)
		.toSorted((one, other) => other.newest.timestamp.localeCompare(one.newest.timestamp))

function keyOf({ id, type, metadata }: Activity) {
	const { campaignId, workflowId, templateId, eventName, data } = metadata
	const passage = passageOf(textOf(eventName), data)
	if (passage) return `${passage.way} ${passage.segmentId}`
	const subject = [campaignId, workflowId, templateId, eventName].map(textOf).find(Boolean)
	return `${type} ${subject ?? id}`
}

/** Not about one mail of a campaign, but about the campaign. It is called as its mails are, if all have one subject. */
function aboutAll(same: Activity[]): Activity {
	const newest = same[0]!
	const { campaignId, emailId, subject, ...metadata } = newest.metadata
	if (!campaignId || !emailId) return newest
	const isShared = same.every((one) => one.metadata['subject'] === subject)
	return {
		...newest,
		metadata: { ...metadata, campaignId, ...(isShared && { campaignName: subject }) },
	}
}
