import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Outlet, useParams } from '@tanstack/react-router'
import { useCallback } from 'react'
import { configQuery } from '../config.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Page } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { useAct } from '../parts/use-act.ts'
import { useProject } from '../shell/projects.ts'
import { MessageList } from './message-list.tsx'
import styles from './mailbox.module.css'
import { listKey, useMessages } from './messages.ts'

export const page = createLazyRoute('/console/$projectId/mailbox')({ component: MailboxPage })
const route = getRouteApi('/console/$projectId/mailbox')

function MailboxPage() {
	const { data: config } = useQuery(configQuery)
	if (config && !config.features.mailbox.enabled)
		return (
			<Page title="Mailbox">
				<Empty title="There is no local mailbox here">
					<p>
						Without a mail provider, mail is kept in a mailbox that answers only on the machine that
						Tempost runs on, under http://localhost.
					</p>
				</Empty>
			</Page>
		)
	return <Mailbox />
}

function Mailbox() {
	const { search } = route.useSearch()
	const { messageId } = useParams({ strict: false })
	const navigate = route.useNavigate()
	const messages = useMessages(search)
	const find = useCallback(
		(text: string) =>
			void navigate({ to: '.', search: { search: text || undefined }, replace: true }),
		[navigate],
	)
	return (
		<Page title="Mailbox">
			<div className={styles.mailbox} data-open={messageId !== undefined}>
				<div className={styles.side}>
					<div className={styles.find}>
						<SearchBox name="Address or subject" value={search ?? ''} onChange={find} />
						<Clear />
					</div>
					<MessageList {...messages} openId={messageId} search={search} />
				</div>
				<div className={styles.open}>
					<Outlet />
				</div>
			</div>
		</Page>
	)
}

function Clear() {
	const { project, api } = useProject()
	const navigate = route.useNavigate()
	const { total = 0 } = useMessages(undefined)
	const { run, error, isBusy } = useAct(listKey(project.id))
	return (
		<>
			<Fault error={error} />
			<Button
				kind="danger"
				disabled={total === 0}
				isBusy={isBusy}
				onClick={() =>
					run({
						question: {
							title: 'Empty the mailbox?',
							body: `This deletes ${formatCount(total)} ${total === 1 ? 'mail' : 'mails'}, of every project on this machine. The page “Emails” keeps its entries.`,
							act: 'Delete all',
							isDestructive: true,
						},
						act: async () => {
							await api.mailbox.clear()
							await navigate({ to: '/console/$projectId/mailbox', search: {} })
						},
						said: 'The mailbox is empty',
					})
				}
			>
				Delete all
			</Button>
		</>
	)
}
