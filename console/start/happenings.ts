import type { Activity } from '../../client/index.ts'
import { passageOf, textOf } from '../contacts/activity-moment.tsx'

/** The newest of the same happenings, and how many came before it. */
export interface Happening {
	newest: Activity
	earlier: number
}

/**
 * Happenings by what they are about, newest first: a campaign, a segment, a workflow or an event that many people have
 * would otherwise be all that is seen.
 */
export function happeningsOf(activities: Activity[]): Happening[] {
	const found = new Map<string, Happening>()
	for (const activity of activities) {
		const key = `${activity.type} ${subjectOf(activity)}`
		const same = found.get(key)
		if (same) same.earlier += 1
		else found.set(key, { newest: activity, earlier: 0 })
	}
	return [...found.values()].map(({ newest, earlier }) => ({
		newest: earlier > 0 ? aboutAll(newest) : newest,
		earlier,
	}))
}

function subjectOf({ id, metadata }: Activity) {
	const { campaignId, workflowId, eventName, data } = metadata
	const passage = passageOf(textOf(eventName), data)
	if (passage) return `${passage.way} ${passage.segmentId}`
	return textOf(campaignId) || textOf(workflowId) || textOf(eventName) || id
}

/** Not about one mail of a campaign, but about the campaign, which is called as its mail is. */
function aboutAll(activity: Activity): Activity {
	const { campaignId, emailId, subject, ...metadata } = activity.metadata
	if (!campaignId || !emailId) return activity
	return { ...activity, metadata: { ...metadata, campaignId, campaignName: subject } }
}
