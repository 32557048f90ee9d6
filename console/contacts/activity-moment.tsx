import { Link } from '@tanstack/react-router'
import type { Activity } from '../../client/index.ts'
import type { Tone } from '../parts/badge.tsx'
import { textOf } from '../parts/text-of.ts'
import type { Moment } from '../parts/timeline.tsx'
import { useProject } from '../shell/projects.ts'
import { dataText } from './data-text.ts'

const happenings: Record<Activity['type'], [title: string, tone: Tone]> = {
	'event.triggered': ['Event', 'info'],
	'email.sent': ['Mail sent', 'none'],
	'email.delivered': ['Mail delivered', 'good'],
	'email.received': ['Mail received', 'info'],
	'email.opened': ['Mail opened', 'good'],
	'email.clicked': ['Link clicked', 'good'],
	'email.bounced': ['Mail bounced', 'bad'],
	'email.complaint': ['Mail reported as spam', 'bad'],
	'contact.subscribed': ['Subscribed', 'good'],
	'contact.unsubscribed': ['Unsubscribed', 'warn'],
	'email.failed': ['Mail failed', 'bad'],
	'campaign.sent': ['Campaign sent', 'none'],
	'campaign.scheduled': ['Campaign scheduled', 'none'],
	'workflow.started': ['Workflow started', 'info'],
	'workflow.completed': ['Workflow ended', 'none'],
	'workflow.email.scheduled': ['Workflow mail accepted', 'none'],
}

export const activityTypes = Object.keys(happenings) as Activity['type'][]

/** An item of the feed as a moment, with a link to what it is about. */
export function useMomentOf() {
	const { project } = useProject()
	return ({ type, timestamp, metadata }: Activity): Moment => {
		const [title, tone] = happenings[type]
		const text = (name: string) => textOf(metadata[name])
		const linked = (path: string, name: string) => (
			<Link to={`/console/${project.id}/${path}` as '/'}>{name}</Link>
		)
		const passage = passageOf(text('eventName'), metadata['data'])
		if (passage)
			return {
				at: timestamp,
				tone,
				title: passage.way === 'entry' ? 'Entered a segment' : 'Left a segment',
				detail: linked(`segments/${passage.segmentId}`, passage.segmentName),
			}
		const mail = text('emailId')
		const campaign = text('campaignId')
		const workflow = text('workflowId')
		const detail = mail
			? linked(`emails/${mail}`, text('subject') || 'Show the mail')
			: campaign
				? linked(`campaigns/${campaign}`, text('campaignName') || 'Show the campaign')
				: workflow
					? linked(`workflows/${workflow}`, text('workflowName') || 'Show the workflow')
					: dataOf(metadata['data'])
		const event = text('eventName')
		const more = [text('link'), text('bounceType'), text('error'), text('exitReason')]
			.filter(Boolean)
			.join(' · ')
		return {
			at: timestamp,
			tone,
			title: type === 'event.triggered' ? `${title} ${event}` : title,
			detail: more ? (
				<>
					{detail} {more}
				</>
			) : (
				detail
			),
		}
	}
}

/** The event of a tracked segment, with what it says about the segment. */
export function passageOf(event: string, data: unknown) {
	const way = /^segment\..+\.(entry|exit)$/.exec(event)?.[1]
	if (!way || typeof data !== 'object' || data === null) return undefined
	if (!('segmentId' in data && 'segmentName' in data)) return undefined
	return { way, segmentId: textOf(data.segmentId), segmentName: textOf(data.segmentName) }
}

const dataOf = (data: unknown) =>
	typeof data === 'object' && data !== null
		? Object.entries(data)
				.map(([key, value]) => `${key}: ${dataText(value)}`)
				.join(' · ')
		: ''
