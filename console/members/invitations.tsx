import { useQuery } from '@tanstack/react-query'
import type { PendingInvitation } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Row } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useAct } from '../parts/use-act.ts'
import { mayAct, useProject } from '../shell/projects.ts'
import { invitationsKey } from './roles.ts'

const columns: Column<PendingInvitation>[] = [
	{ name: 'Email address', width: '2fr', cell: ({ email }) => email },
	{ name: 'Role', width: '90px', cell: ({ role }) => inWords(role) },
	{ name: 'Invited by', width: '1.4fr', cell: ({ invitedBy }) => invitedBy },
	{ name: 'Expires', width: '180px', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
]

/** People who were invited and have not accepted yet. */
export function Invitations() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: invitationsKey(project.id),
		queryFn: () => api.projects.listInvitations(project.id),
		refetchInterval: liveMs.slow,
	})
	const acts = useInvitationActs()
	return (
		<>
			<Fault error={acts.error} />
			<Table
				name="Pending invitations"
				columns={
					mayAct(project, 'ADMIN')
						? [...columns, { name: 'Actions', width: '220px', cell: acts.buttonsFor }]
						: columns
				}
				rows={data}
				error={error}
				retry={() => void refetch()}
				rowKey={({ id }) => id}
				empty={<p>Nobody is invited at present.</p>}
			/>
		</>
	)
}

function useInvitationActs() {
	const { project, api } = useProject()
	const { run, error } = useAct(invitationsKey(project.id))
	const buttonsFor = ({ id, email }: PendingInvitation) => (
		<Row>
			<Button
				aria-label={`Send again to ${email}`}
				onClick={() =>
					run({
						question: {
							title: `Send the invitation to ${email} again?`,
							body: 'The new mail has a new link that works for seven days. The link in the earlier mail stops working.',
							act: 'Send it again',
						},
						act: () => api.projects.resendInvitation(project.id, id),
						said: `An invitation is on its way to ${email}`,
					})
				}
			>
				Send again
			</Button>
			<Button
				aria-label={`Revoke the invitation of ${email}`}
				onClick={() =>
					run({
						question: {
							title: `Revoke the invitation of ${email}?`,
							body: 'The link in its mail stops working at once.',
							act: 'Revoke the invitation',
							isDestructive: true,
						},
						act: () => api.projects.revokeInvitation(project.id, id),
						said: `The invitation of ${email} is revoked`,
					})
				}
			>
				Revoke
			</Button>
		</Row>
	)
	return { error, buttonsFor }
}
