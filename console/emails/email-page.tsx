import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Fault } from '../parts/fault.tsx'
import { Columns, Page, Section, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { EmailActs } from './email-acts.tsx'
import { EmailContent } from './email-content.tsx'
import { EmailFacts } from './email-facts.tsx'
import { EmailReason } from './email-reason.tsx'
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
			<Stack>
				<EmailReason mail={mail} />
				<Columns>
					<div>
						<EmailFacts mail={mail} />
						<Section title="History">
							<EmailTimeline mail={mail} />
						</Section>
					</div>
					<EmailContent mail={mail} />
				</Columns>
			</Stack>
		</Page>
	)
}
