import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { liveMs } from '../client.ts'
import { Code } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { firstContact, firstMail } from './examples.ts'
import { freshKey } from './fresh-keys.ts'
import { Recently } from './recently.tsx'
import styles from './start.module.css'

export const page = createLazyRoute('/console/$projectId/')({ component: StartPage })

function StartPage() {
	const { project, api } = useProject()
	const state = useQuery({
		queryKey: [project.id, 'setup'],
		queryFn: async () => {
			const [setup, mails] = await Promise.all([
				api.projects.setupState(project.id),
				api.emails.list({ limit: 1 }),
			])
			return { ...setup, hasMail: mails.data.length > 0 }
		},
		refetchInterval: liveMs.normal,
	})
	const { data, error, refetch } = state
	if (!data)
		return (
			<Page title={project.name}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	const steps = stepsOf(data)
	const next = steps.findIndex(({ isDone }) => !isDone)
	return (
		<Page title={project.name}>
			{next >= 0 && (
				<ol className={styles.steps}>
					{steps.map((step, index) => (
						<Step key={step.title} {...step} isNext={index === next} number={index + 1} />
					))}
				</ol>
			)}
			{data.hasMail && <Recently />}
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

function stepsOf(state: State): StepOf[] {
	return [
		{
			title: 'Verify the domain that you send from',
			isDone: state.hasVerifiedDomain,
			how: (
				<p>
					Mail leaves only from addresses of a verified domain. Add yours on the page “Domains”.
				</p>
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
			how: <p>Write to all contacts, or to a segment of them, on the page “Campaigns”.</p>,
		},
	]
}

function Example({ of }: { of: (url: string, key: string) => string }) {
	const { project } = useProject()
	const key = freshKey(project.id)
	return (
		<>
			{!key && (
				<p>
					Set <code>TEMPOST_SECRET_KEY</code> to the secret key of this project, which ends in{' '}
					<code>{project.secret.slice(-4)}</code>. Keys are shown only when they are made; the page
					“Settings” makes new ones.
				</p>
			)}
			<Code name="example" text={of(location.origin, key ?? '$TEMPOST_SECRET_KEY')} />
		</>
	)
}

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
