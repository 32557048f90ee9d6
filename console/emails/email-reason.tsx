import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { EmailWithAttempts } from '../../client/index.ts'
import { Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import { reasons } from '../suppressions/suppression-filters.ts'

type Tone = 'info' | 'warn' | 'bad'

/** Why a mail has not arrived, and what happens next; nothing where all is well. */
export function EmailReason({ mail }: { mail: EmailWithAttempts }) {
	const reason = reasonOf(mail)
	if (!reason) return null
	const [tone, ...sentences] = reason
	return (
		<Notice tone={tone}>
			{sentences.map((sentence, index) => (
				// The sentences of a status stay in their places.
				<p key={index}>{sentence}</p>
			))}
		</Notice>
	)
}

function reasonOf(mail: EmailWithAttempts): [Tone, ...ReactNode[]] | undefined {
	const { status, error, scheduledFor } = mail
	const why = error ? [<strong>{withReason(error)}</strong>] : []
	switch (status) {
		case 'SCHEDULED':
			return [
				'info',
				<>
					It leaves at <Time at={scheduledFor} as="date" />.
				</>,
			]
		case 'UNCERTAIN':
			return ['warn', 'It was handed over, and the answer is not known.', ...why, nextOf(mail)]
		case 'SUPPRESSED':
			return ['warn', ...why, <Listed mail={mail} />]
		case 'PENDING':
		case 'SENDING':
			return error ? ['info', ...why, againOf(mail)] : undefined
		case 'FAILED':
		case 'BOUNCED':
		case 'CANCELLED':
			return error ? [status === 'CANCELLED' ? 'info' : 'bad', ...why] : undefined
		default:
			return undefined
	}
}

/** The reason of a suppression as its list names it. */
const withReason = (error: string) =>
	error.replace(/[A-Z_]+$/, (code) => reasons.find(({ value }) => value === code)?.name ?? code)

/** A campaign may be paused. */
const againOf = ({ sourceType }: EmailWithAttempts) =>
	`It has not left yet, and is tried again ${sourceType === 'CAMPAIGN' ? 'while its campaign is being sent' : 'by itself'}.`

/** Doubt about mail of requests ends by itself. */
const nextOf = ({ sourceType }: EmailWithAttempts) =>
	sourceType === 'TRANSACTIONAL'
		? 'An open or a bounce settles it. Otherwise it is sent again after a while, unless you decide before.'
		: 'An open or a bounce settles it. Otherwise it waits until you decide whether it was sent.'

function Listed({ mail: { to } }: { mail: EmailWithAttempts }) {
	const { project } = useProject()
	return (
		<>
			Nothing was sent. A second try is held back, too, while this project or the mail provider has
			the address on its list.{' '}
			<Link
				to="/console/$projectId/settings/suppressions"
				params={{ projectId: project.id }}
				search={{ search: to }}
			>
				Look for the address in the list
			</Link>
		</>
	)
}
