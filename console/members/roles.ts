import type { AddMemberInput } from '../../client/index.ts'

/** The roles that can be given. */
export const roles = [
	{ value: 'MEMBER', name: 'Member' },
	{ value: 'ADMIN', name: 'Administrator' },
] as const

type GivenRole = NonNullable<AddMemberInput['role']>

export const isGivenRole = (role: string | undefined): role is GivenRole =>
	roles.some(({ value }) => value === role)

export const membersKey = (projectId: string) => [projectId, 'members']
export const invitationsKey = (projectId: string) => [projectId, 'invitations']
