import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import type { Member } from '../../client/index.ts'
import { userQuery } from '../accounts/user.ts'
import { liveMs } from '../client.ts'
import { inWords } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Filter } from '../parts/filter.tsx'
import { Section, Soft, Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useAct } from '../parts/use-act.ts'
import { mayAct, useProject } from '../shell/projects.ts'
import { Invitations } from './invitations.tsx'
import { Inviting } from './inviting.tsx'
import { isGivenRole, membersKey, roles } from './roles.ts'

export const page = createLazyRoute('/console/$projectId/settings/members')({
	component: MembersPage,
})

function MembersPage() {
	const { project, api } = useProject()
	const members = useQuery({
		queryKey: membersKey(project.id),
		queryFn: () => api.projects.listMembers(project.id),
		refetchInterval: liveMs.slow,
	})
	const { error, columns } = useColumns()
	const isAdministrator = mayAct(project, 'ADMIN')
	return (
		<Stack>
			<Roles />
			{isAdministrator && <Inviting />}
			<Fault error={error} />
			<Table
				name="Members"
				columns={columns}
				rows={members.data}
				error={members.error}
				retry={() => void members.refetch()}
				rowKey={({ userId }) => userId}
				empty={null}
			/>
			{!members.isPending && (
				<Section title="Pending invitations">
					<Invitations />
				</Section>
			)}
		</Stack>
	)
}

const Roles = () => (
	<p>
		Members read and change all data. Administrators also change settings, keys, domains, members
		and billing. The owner can also delete the project, and stays its owner. You cannot change your
		own role.
	</p>
)

function useColumns() {
	const { project } = useProject()
	const { data: user } = useQuery(userQuery)
	const acts = useMemberActs()
	const isAdministrator = mayAct(project, 'ADMIN')
	const mayChange = ({ userId, role }: Member) =>
		isAdministrator && role !== 'OWNER' && userId !== user?.id
	const columns: Column<Member>[] = [
		{
			name: 'Email address',
			width: '2fr',
			cell: ({ email, userId }) => (
				<>
					{email} {userId === user?.id && <Soft>that’s you</Soft>}
				</>
			),
		},
		{
			name: 'Role',
			width: '170px',
			cell: (member) =>
				mayChange(member) ? (
					<Filter
						name={`Role of ${member.email}`}
						value={member.role}
						options={roles}
						onChange={(role) => acts.change(member, role)}
					/>
				) : (
					inWords(member.role)
				),
		},
		{ name: 'Since', width: '180px', cell: ({ createdAt }) => <Time at={createdAt} /> },
		{
			name: 'Actions',
			width: '110px',
			cell: (member) =>
				mayChange(member) && (
					<Button aria-label={`Remove ${member.email}`} onClick={() => acts.remove(member)}>
						Remove
					</Button>
				),
		},
	]
	return { error: acts.error, columns }
}

function useMemberActs() {
	const { project, api } = useProject()
	const { run, error } = useAct(membersKey(project.id))
	return {
		error,
		change({ userId, email, role: before }: Member, role: string | undefined) {
			if (!isGivenRole(role) || role === before || !isGivenRole(before)) return
			const set = (to: typeof role) => () =>
				api.projects.updateMember(project.id, userId, { role: to })
			run({
				...(role === 'MEMBER' && {
					question: {
						title: `Make ${email} a member without administration?`,
						body: 'They can no longer change settings, keys, domains, members or billing. Invitations that they sent are revoked.',
						act: 'Make them a member',
					},
				}),
				act: set(role),
				said: `${email} is ${role === 'ADMIN' ? 'an administrator' : 'a member'} now`,
				undo: { act: set(before), said: 'The role is as it was' },
			})
		},
		remove: ({ userId, email }: Member) =>
			run({
				question: {
					title: `Remove ${email}?`,
					body: 'They lose access to this project at once. Invitations that they sent are revoked. What they made stays.',
					act: 'Remove them',
					isDestructive: true,
				},
				act: () => api.projects.removeMember(project.id, userId),
				said: `${email} is removed`,
			}),
	}
}
