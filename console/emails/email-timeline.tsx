import type { EmailWithAttempts } from '../../client/index.ts'
import type { Tone } from '../parts/badge.tsx'
import { Timeline, type Moment } from '../parts/timeline.tsx'

const outcomes: Record<EmailWithAttempts['attempts'][number]['outcome'], [string, Tone]> = {
	SENT: ['Handed over to the provider', 'good'],
	REJECTED: ['Refused by the provider', 'bad'],
	DEFERRED: ['Put off by the provider', 'warn'],
	UNAVAILABLE: ['The provider was away', 'warn'],
	UNKNOWN: ['Handed over; no answer came', 'warn'],
	OPEN: ['Being handed over', 'info'],
}

const happenings: Record<EmailWithAttempts['engagements'][number]['type'], [string, Tone]> = {
	delivery: ['Delivered', 'good'],
	open: ['Opened', 'good'],
	click: ['A link was followed', 'good'],
	bounce: ['Bounced', 'bad'],
	complaint: ['Reported as spam', 'bad'],
	unsubscribe: ['Unsubscribed', 'warn'],
}

/** All that happened to a mail, in order. */
export function EmailTimeline({ mail }: { mail: EmailWithAttempts }) {
	const attempts = mail.attempts.map(
		({ at, outcome, provider, providerMessageId, error }): Moment => ({
			at,
			title: outcomes[outcome][0],
			tone: outcomes[outcome][1],
			detail: [provider, error, providerMessageId].filter(Boolean).join(' · '),
		}),
	)
	const engagements = mail.engagements.map(({ type, at, link }): Moment => {
		const [title, tone] = happenings[type]
		return { at, title, tone, detail: link }
	})
	const moments: Moment[] = [
		{ at: mail.createdAt, title: 'Accepted', tone: 'none' as const },
		...attempts,
		...engagements,
	].toSorted((one, other) => one.at.localeCompare(other.at))
	return (
		<>
			<Timeline moments={moments} />
			{mail.possibleRepeat && <p>It was sent again although an earlier try may have arrived.</p>}
		</>
	)
}
