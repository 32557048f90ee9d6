import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { EmailWithAttempts } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Fault } from '../parts/fault.tsx'
import { Facts } from '../parts/figures.tsx'
import { Columns, Page, Section } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { EmailActs } from './email-acts.tsx'
import { EmailContent } from './email-content.tsx'
import { EmailTimeline } from './email-timeline.tsx'

export const page = createLazyRoute('/console/$projectId/emails/$emailId')({ component: EmailPage })
const route = getRouteApi('/console/$projectId/emails/$emailId')

const settled = new Set(['FAILED', 'BOUNCED', 'COMPLAINED', 'SUPPRESSED', 'CANCELLED', 'RECEIVED'])

function EmailPage() {
	const { emailId } = route.useParams()
	const { project, api } = useProject()
	const {
		data: mail,
		error,
		refetch,
	} = useQuery({
		queryKey: [project.id, 'emails', emailId],
		queryFn: () => api.emails.get(emailId),
		refetchInterval: ({ state }) => (settled.has(state.data?.status ?? '') ? false : liveMs.normal),
	})
	const back = (
		<Link to="/console/$projectId/emails" params={{ projectId: project.id }}>
			Emails
		</Link>
	)
	if (!mail)
		return (
			<Page title="Email" back={back}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return (
		<Page
			title={mail.subject || '(no subject)'}
			back={back}
			about={<Status status={mail.status} />}
			actions={<EmailActs mail={mail} />}
		>
			<Columns>
				<div>
					<EmailFacts mail={mail} />
					<Section title="History">
						<EmailTimeline mail={mail} />
					</Section>
				</div>
				<EmailContent mail={mail} />
			</Columns>
		</Page>
	)
}

function EmailFacts({ mail }: { mail: EmailWithAttempts }) {
	const { project } = useProject()
	const params = { projectId: project.id }
	const copies = [...mail.cc, ...mail.bcc].map(({ email }) => email)
	return (
		<Facts
			facts={[
				['To', mail.toName ? `${mail.toName} <${mail.to}>` : mail.to],
				...(copies.length > 0 ? ([['Copies', copies.join(', ')]] as [string, string][]) : []),
				['From', mail.fromName ? `${mail.fromName} <${mail.from}>` : mail.from],
				['Created', <Time at={mail.createdAt} as="date" />],
				['Opens, clicks', `${mail.opens}, ${mail.clicks}`],
				[
					'All mail to this person',
					mail.contactId ? (
						<Link
							to="/console/$projectId/emails"
							params={params}
							search={{ contact: mail.contactId }}
						>
							Show
						</Link>
					) : (
						'The contact is deleted'
					),
				],
				['Id', <code>{mail.id}</code>],
			]}
		/>
	)
}
