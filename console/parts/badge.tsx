import type { ReactNode } from 'react'
import styles from './badge.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'none'

export const Badge = ({ tone = 'none', children }: { tone?: Tone; children: ReactNode }) => (
	<span className={styles.badge} data-tone={tone}>
		{children}
	</span>
)

/** What each status of mails, campaigns, executions, jobs and deliveries means to its reader. */
const tones: Record<string, Tone> = {
	DELIVERED: 'good',
	OPENED: 'good',
	CLICKED: 'good',
	SENT: 'good',
	COMPLETED: 'good',
	ACTIVE: 'good',
	VERIFIED: 'good',
	SUCCEEDED: 'good',
	PENDING: 'info',
	SENDING: 'info',
	SCHEDULED: 'info',
	RUNNING: 'info',
	WAITING: 'info',
	RECEIVED: 'info',
	PAUSED: 'warn',
	UNCERTAIN: 'warn',
	SUPPRESSED: 'warn',
	CANCELLED: 'none',
	DRAFT: 'none',
	EXITED: 'none',
	FAILED: 'bad',
	BOUNCED: 'bad',
	COMPLAINED: 'bad',
	DISABLED: 'bad',
}

/** A status of the API, in the words and the colour of the console. */
export const Status = ({ status }: { status: string }) => (
	<Badge tone={tones[status.toUpperCase()] ?? 'none'}>{inWords(status)}</Badge>
)

/** `BULK_JOB` is shown as `Bulk job`. */
export function inWords(name: string) {
	const words = name.toLowerCase().replaceAll('_', ' ')
	return words.charAt(0).toUpperCase() + words.slice(1)
}
