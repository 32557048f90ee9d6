import { Link } from '@tanstack/react-router'
import type { BoundedCount, System } from '../../client/index.ts'
import { formatCount } from '../parts/figures.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import { Explained, type ExplainedOf } from './explained.tsx'

/** Every figure of the backlog, what it means, and what to do when it is high. */
export function WaitingWork({ system }: { system: System }) {
	const { project } = useProject()
	return (
		<Explained
			items={[...mails(system, project.id), ...campaigns(system), ...others(system, project.id)]}
		/>
	)
}

const counted = ({ count, atLeast }: BoundedCount) =>
	atLeast ? `${formatCount(count)} or more` : formatCount(count)

const Oldest = ({ at }: { at: string | null }) =>
	at && (
		<>
			{' '}
			The oldest is from <Time at={at} />.
		</>
	)

const mails = ({ backlog, doubt }: System, projectId: string): ExplainedOf[] => [
	{
		name: 'Mails that wait',
		value: counted(backlog.waiting),
		about: (
			<>
				Of requests and workflows. They usually leave within a second.
				<Oldest at={backlog.oldestWaitingSince} />
				{backlog.waiting.count > 0 && ' If it is older than a minute, see the health above.'}
			</>
		),
	},
	{
		name: 'Mails being sent',
		value: counted(backlog.sending),
		about: 'They are handed over to the provider, and its answer is awaited.',
	},
	{
		name: 'Scheduled mails',
		value: counted(backlog.scheduled),
		about: (
			<>
				They leave at their time.
				{backlog.nextScheduledFor && (
					<>
						{' '}
						The next one leaves <Time at={backlog.nextScheduledFor} />.
					</>
				)}{' '}
				<MailLink projectId={projectId} status="SCHEDULED" name="Show scheduled mails" />
			</>
		),
	},
	{
		name: 'Mails in doubt',
		value: counted(doubt.uncertain),
		about: (
			<>
				They were handed over, and no answer is known.
				<Oldest at={doubt.oldestSince} />
				{doubt.uncertain.count > 0 && (
					<>
						{' '}
						An open or a bounce settles them. Otherwise, mail of requests is sent again after a
						while, and other mail waits until you decide whether it was sent.{' '}
						<MailLink projectId={projectId} status="UNCERTAIN" name="Resolve mails in doubt" />
					</>
				)}
			</>
		),
	},
]

const MailLink = ({
	projectId,
	status,
	name,
}: {
	projectId: string
	status: 'SCHEDULED' | 'UNCERTAIN'
	name: string
}) => (
	<Link to="/console/$projectId/emails" params={{ projectId }} search={{ status }}>
		{name}
	</Link>
)

const campaigns = ({ backlog }: System): ExplainedOf[] => [
	{
		name: 'Campaign mails that wait',
		value: formatCount(backlog.campaignWaiting),
		about: 'Of campaigns that are being sent. The page of a campaign shows its rate and its end.',
	},
	{
		name: 'Campaign mails being sent',
		value: formatCount(backlog.campaignSending),
		about: 'They are handed over to the provider, and its answer is awaited.',
	},
]

const others = ({ outbox, webhooks }: System, projectId: string): ExplainedOf[] => [
	{
		name: 'Starts and signals',
		value: counted(outbox.waiting),
		about: (
			<>
				They are not passed to Temporal yet, which usually takes less than a second.
				<Oldest at={outbox.oldestSince} />
				{outbox.waiting.count > 0 && ' If it is older than a minute, Temporal is away or too busy.'}
			</>
		),
	},
	{
		name: 'Webhook deliveries',
		value: counted(webhooks.waiting),
		about: (
			<>
				They are due, or wait for their next try. If there are many, an endpoint does not accept
				them.{' '}
				<Link to="/console/$projectId/webhooks" params={{ projectId }}>
					Show webhook endpoints
				</Link>
			</>
		),
	},
]
