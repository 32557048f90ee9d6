import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { liveMs } from '../client.ts'
import { buttonClass } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { Attention, useMatters } from './attention.tsx'
import { Example } from './example.tsx'
import { firstContact, firstMail } from './examples.ts'
import { Latest } from './latest.tsx'
import { Recently } from './recently.tsx'
import styles from './start.module.css'

export function StartPage() {
	const { project, api } = useProject()
	const state = useQuery({
		queryKey: [project.id, 'setup'],
		queryFn: async () => {
			const [setup, mails] = await Promise.all([
				api.projects.setupState(project.id),
				api.emails.list({ limit: 1, bodies: false }),
			])
			return { ...setup, hasMail: mails.data.length > 0 }
		},
		refetchInterval: liveMs.normal,
	})
	const matters = useMatters()
	const { data, error, refetch } = state
	// What needs a decision is above all else, which must not jump when it arrives.
	if (!data || matters.isPending)
		return (
			<Page title={project.name}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	const steps = stepsOf(data, `/console/${project.id}`)
	const next = steps.findIndex(({ isDone }) => !isDone)
	return (
		<Page title={project.name}>
			<Attention matters={matters.data ?? []} />
			{next >= 0 && (
				<ol className={styles.steps}>
					{steps.map((step, index) => (
						<Step key={step.title} {...step} isNext={index === next} number={index + 1} />
					))}
				</ol>
			)}
			{data.hasMail && (
				<>
					<Recently />
					<Latest />
				</>
			)}
		</Page>
	)
}

interface StepOf {
	title: string
	isDone: boolean
	how: ReactNode
}

interface State {
	hasVerifiedDomain: boolean
	hasMail: boolean
	contactCount: number
	lastCampaignSentAt: string | null
}

function stepsOf(state: State, home: string): StepOf[] {
	return [
		{
			title: 'Verify the domain that you send from',
			isDone: state.hasVerifiedDomain,
			how: (
				<>
					<p>Mail leaves only from addresses of a verified domain.</p>
					<NextPage to={`${home}/domains`}>Add your domain</NextPage>
				</>
			),
		},
		{ title: 'Send a first mail', isDone: state.hasMail, how: <Example of={firstMail} /> },
		{
			title: 'Add a first contact',
			isDone: state.contactCount > 0,
			how: <Example of={firstContact} />,
		},
		{
			title: 'Send a first campaign',
			isDone: state.lastCampaignSentAt !== null,
			how: (
				<>
					<p>One mail to all contacts, or to a segment of them.</p>
					<NextPage to={`${home}/campaigns`}>Write a campaign</NextPage>
				</>
			),
		},
	]
}

const NextPage = ({ to, children }: { to: string; children: string }) => (
	<p>
		<Link to={to as '/'} className={buttonClass('primary')}>
			{children}
		</Link>
	</p>
)

function Step({
	title,
	isDone,
	how,
	isNext,
	number,
}: StepOf & { isNext: boolean; number: number }) {
	return (
		<li className={styles.step} data-done={isDone} aria-current={isNext ? 'step' : undefined}>
			<span className={styles.number}>
				{isDone ? <Check size={14} aria-label="Done" /> : number}
			</span>
			<div className={styles.how}>
				<h2>{title}</h2>
				{isNext && how}
			</div>
		</li>
	)
}
