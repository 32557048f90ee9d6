import { Link } from '@tanstack/react-router'
import type { Campaign, CampaignProgress } from '../../client/index.ts'
import { formatCount } from '../parts/figures.tsx'
import { Soft } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import styles from './campaign-progress.module.css'
import { useProject } from '../shell/projects.ts'
import { durationOf } from './duration.ts'
import { isHalt, WaitingFor } from './waiting-for.tsx'

interface Props {
	campaign: Campaign
	progress: CampaignProgress | undefined
}

/** How far a campaign is, how fast it goes, and what it waits for. */
export function CampaignProgressBar({ campaign, progress }: Props) {
	if (!progress)
		return (
			<div className={styles.progress}>
				<Waiting rows={1} />
			</div>
		)
	const parts = partsOf(progress).filter(({ count }) => count > 0)
	const open = progress.pending + progress.sending
	return (
		<div className={styles.progress}>
			<div
				className={styles.bar}
				role="progressbar"
				aria-label="Progress"
				aria-valuemin={0}
				aria-valuemax={progress.total}
				aria-valuenow={progress.total - open}
			>
				{parts.map(({ name, tone, count }) => (
					<span key={name} data-tone={tone} style={{ flexGrow: count }} />
				))}
			</div>
			<ul className={styles.legend}>
				{parts.map(({ name, tone, count, status }) => (
					<li key={name} data-tone={tone}>
						{formatCount(count)} <Soft>{name}</Soft>{' '}
						{status && <Those campaign={campaign} status={status} />}
					</li>
				))}
				{parts.length === 0 && <li>It had no recipients.</li>}
			</ul>
			<p className={styles.now} role="status">
				<Now campaign={campaign} progress={progress} open={open} />
			</p>
		</div>
	)
}

interface Part {
	name: string
	tone: string
	count: number
	/** Of the recipients that are worth a look. */
	status?: keyof typeof shown
}

const shown = { UNCERTAIN: 'mails in doubt', FAILED: 'failed mails' }

const partsOf = (progress: CampaignProgress): Part[] => [
	{ name: 'sent', tone: 'good', count: progress.sent },
	{ name: 'in doubt', tone: 'warn', count: progress.uncertain, status: 'UNCERTAIN' },
	{ name: 'failed', tone: 'bad', count: progress.failed, status: 'FAILED' },
	{ name: 'skipped', tone: 'soft', count: progress.skipped },
	{ name: 'being sent', tone: 'info', count: progress.sending },
	{ name: 'waiting', tone: 'none', count: progress.pending },
]

/** Leads to the recipients of one kind. */
function Those({ campaign, status }: { campaign: Campaign; status: keyof typeof shown }) {
	const { project } = useProject()
	return (
		<Link
			to="/console/$projectId/campaigns/$campaignId"
			params={{ projectId: project.id, campaignId: campaign.id }}
			search={{ tab: 'recipients', status }}
		>
			Show<span className="unseen"> {shown[status]}</span>
		</Link>
	)
}

function Now({
	campaign,
	progress,
	open,
}: {
	campaign: Campaign
	progress: CampaignProgress
	open: number
}) {
	if (campaign.status === 'SENT')
		return (
			<>
				Sent <Time at={campaign.sentAt} as="date" />
			</>
		)
	if (campaign.status === 'CANCELLED')
		return campaign.cancelledReason === 'PROJECT_DISABLED'
			? 'It was cancelled because the project was disabled.'
			: 'It was cancelled. Nothing more is sent.'
	if (isHalt(progress.waitingFor)) return <WaitingFor waitingFor={progress.waitingFor} />
	if (open === 0) return 'Almost done.'
	return (
		<>
			{formatCount(progress.total - open)} of {formatCount(progress.total)}
			{progress.ratePerSecond > 0 && <> · {formatCount(progress.ratePerSecond)} per second</>}
			{progress.etaSeconds !== null && <> · {durationOf(progress.etaSeconds)} left</>}
			{progress.waitingFor && <> · as fast as the send rate of the project allows</>}
		</>
	)
}
