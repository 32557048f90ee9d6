import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { MailboxMail } from '../../client/index.ts'
import { isStatus } from '../client.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useAct } from '../parts/use-act.ts'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './mailbox.module.css'
import { MessageContent } from './message-content.tsx'
import { MessageFacts } from './message-facts.tsx'
import { listKey, mailKey } from './messages.ts'
import { useDeletion } from './use-deletion.ts'

export const page = createLazyRoute('/console/$projectId/mailbox/$messageId')({
	component: MessagePage,
})
const route = getRouteApi('/console/$projectId/mailbox/$messageId')

function MessagePage() {
	const { messageId } = route.useParams()
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: mailKey(project.id, messageId),
		queryFn: () => api.mailbox.get(messageId),
		staleTime: Infinity,
	})
	if (isStatus(error, 404))
		return (
			<Empty title="This mail is not in the mailbox any more">
				<p>
					<BackLink />
				</p>
			</Empty>
		)
	if (!data) return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />
	return <Message key={data.id} mail={data} />
}

const BackLink = () => (
	<Link
		from="/console/$projectId/mailbox/$messageId"
		to="/console/$projectId/mailbox"
		search={(old) => old}
	>
		Back to the list
	</Link>
)

function Message({ mail }: { mail: MailboxMail }) {
	const { project, api } = useProject()
	const { remove, error } = useDeletion(mail.id)
	const { run } = useAct(listKey(project.id))
	useReading(mail)
	const heading = useRef<HTMLHeadingElement>(null)
	useEffect(() => {
		// On a phone the mail takes the place of the list.
		if (matchMedia('(max-width: 900px)').matches) heading.current?.focus()
	}, [])
	return (
		<article aria-label="Open mail">
			<Stack>
				<Row>
					<span className={styles.back}>
						<BackLink />
					</span>
					<Button
						onClick={() =>
							run({
								act: () => api.mailbox.update(mail.id, { read: false }),
								said: 'The mail is unread',
							})
						}
					>
						Mark as unread
					</Button>
					<Button kind="danger" onClick={() => remove(mail)}>
						Delete
					</Button>
				</Row>
				<Fault error={error} />
				<h2 ref={heading} tabIndex={-1} dir="auto" className={styles.subject}>
					{mail.subject || '(no subject)'}
				</h2>
				<MessageFacts mail={mail} />
				<MessageContent mail={mail} />
			</Stack>
		</article>
	)
}

/** A mail that is opened is read. */
function useReading({ id }: MailboxMail) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	useEffect(() => {
		void api.mailbox
			.update(id, { read: true })
			.then(() => queries.invalidateQueries({ queryKey: listKey(project.id) }))
	}, [api, id, project.id, queries])
}
