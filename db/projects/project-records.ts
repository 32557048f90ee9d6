import type { EntityManager } from '@mikro-orm/postgresql'
import type { Role } from '../accounts/session.ts'
import { bool, bytes, float, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { type Changes, now, tables } from '../tables.ts'
import type { disabledReasons, trackingModes } from './project.ts'

/** A project as its members see it. */
const projectRecordColumns = {
	id: uuid.notNull('projects without one are being removed, and not listed'),
	name: text,
	public: text,
	secretKeyEnding: text,
	role: text.of<Role>(),
	disabledReason: text.of<(typeof disabledReasons)[number]>().orNull,
	tracking: text.of<(typeof trackingModes)[number]>(),
	language: text,
	postalAddress: text.orNull,
	sendRatePerSecond: float.orNull,
	createdAt: timestamp,
	updatedAt: timestamp,
}
export type ProjectRecord = RowOf<typeof projectRecordColumns>

const record = (role: string) => `p.public_id as id, p.name, p.public_key as public,
	p.secret_key_ending as "secretKeyEnding", ${role} as role, p.disabled_reason as "disabledReason",
	p.tracking, p.language, p.postal_address as "postalAddress", p.send_rate_per_second as "sendRatePerSecond",
	p.created_at as "createdAt", p.updated_at as "updatedAt"`

/** Oldest first. */
export const projectsOfUser = statement('projects-of-user', {
	params: {
		userId: uuid,
		/** Only projects that the user owns. */
		undoubtedOnly: bool,
	},
	row: projectRecordColumns,
	text: `select ${record('m.role')}
	from memberships m join projects p on p.id = m.project_id
	where m.user_id = $userId and p.public_id is not null
		and (m.role = 'OWNER' or not $undoubtedOnly::bool)
	order by p.created_at, p.public_id`,
})

/**
 * Locks the owner's row: their address is verified either before this, and then the project is created
 * verified, or after it, and then the project is updated. Locks the session: a person who takes over the
 * account ends up with all projects made until then. No row: the session has ended.
 */
export const createProject = statement('create-project', {
	params: { sessionId: uuid, name: text, publicKey: text, digest: bytes, ending: text },
	row: projectRecordColumns,
	text: `with owner as (
		select u.id, u.email_verified_at is not null as verified
		from users u join sessions s on s.user_id = u.id where s.id = $sessionId for share
	), p as (
		insert into projects (name, public_key, secret_key_digest, secret_key_ending, owner_verified)
		select $name::text, $publicKey::text, $digest::bytea, $ending::text, verified from owner
			returning *
	), membership as (
		insert into memberships (project_id, user_id, role) select p.id, owner.id, 'OWNER' from p, owner
	)
	select ${record("'OWNER'")} from p`,
})

const shown = [
	'name',
	'publicKey as public',
	'secretKeyEnding',
	'disabledReason',
	'tracking',
	'language',
	'postalAddress',
	'sendRatePerSecond',
	'createdAt',
	'updatedAt',
] as const

/** By its public id, which a reset gives to another row. Returns undefined if there is no such project. */
export async function updateProject(
	em: EntityManager,
	publicId: string,
	changes: Changes<'projects'>,
): Promise<Omit<ProjectRecord, 'role'> | undefined> {
	const project = await tables(em)
		.updateTable('projects')
		.set({ ...changes, updatedAt: now })
		.where('publicId', '=', publicId)
		.returning(shown)
		.executeTakeFirst()
	return project && { ...project, id: publicId }
}
