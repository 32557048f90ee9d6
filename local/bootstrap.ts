import { randomBytes } from 'node:crypto'
import { MikroORM, type EntityManager } from '@mikro-orm/postgresql'
import { newLoginToken } from '../db/accounts/login-token.ts'
import { hashPassword, isPassword } from '../db/accounts/password.ts'
import { User } from '../db/accounts/user.ts'
import config from '../db/config.ts'
import { Domain } from '../db/domains/domain.ts'
import { platformProjectId } from '../db/emails/platform-mail.ts'
import { migrate } from '../db/migrating.ts'
import { Membership } from '../db/projects/membership.ts'
import { keyDigest, newKeys } from '../db/projects/project-keys.ts'
import { defaultProjectName, Project } from '../db/projects/project.ts'
import { poolOf } from '../db/statement.ts'
import type { FirstProject, KnownProject } from './data-dir.ts'

const email = 'owner@example.com'
const domain = 'example.com'

interface Memory {
	remembered: FirstProject | undefined
	remember: (project: FirstProject) => void
}

// Migrates the database, and returns the project whose keys can be shown, with a token that logs its owner in.
export async function prepareDatabase(databaseUrl: string, memory: Memory) {
	const orm = await MikroORM.init({ ...config, clientUrl: databaseUrl })
	try {
		await migrate(orm)
		const project = await bootstrapProject(orm.em.fork(), memory)
		const loginToken = project && (await newLoginToken(await poolOf(orm.em), project.projectId))
		return { project, loginToken }
	} finally {
		await orm.close()
	}
}

// An empty database gets an owner, a project with keys, and the verified domain example.com. For any other
// database only the remembered project is known: it stores no secret keys.
export async function bootstrapProject(
	em: EntityManager,
	{ remembered, remember }: Memory,
): Promise<KnownProject | undefined> {
	const known = remembered && (await stillTrue(em, remembered))
	if (known) return known
	const projects = await em.count(Project, { id: { $ne: platformProjectId } })
	if (projects + (await em.count(User)) > 0) return undefined

	const { secretKey, columns } = newKeys()
	const password = randomBytes(12).toString('base64url')
	const passwordHash = await hashPassword(password)
	return em.transactional(async (em) => {
		const user = em.create(User, { email, passwordHash, emailVerifiedAt: new Date() })
		const project = em.create(Project, { name: defaultProjectName, ...columns })
		await em.flush() // the database generates the ids
		em.create(Membership, { projectId: project.id, userId: user.id, role: 'OWNER' })
		em.create(Domain, {
			projectId: project.id,
			domain,
			verifiedAt: new Date(),
			sweepExempt: true,
		})
		await em.flush()
		const { publicKey } = columns
		const first = { projectId: project.id, publicKey, secretKey, email, password }
		// Stored before the commit: leftover keys of a project that was rolled back are harmless, lost keys are
		// not.
		remember(first)
		return first
	})
}

// Its keys and the owner's password may have been replaced since it was remembered.
async function stillTrue(em: EntityManager, remembered: FirstProject) {
	const project = await em.findOne(Project, { publicId: remembered.projectId })
	if (!project) return undefined
	const { projectId, secretKey, password } = remembered
	const owner = await ownerOf(em, project)
	const isKey = project.secretKeyDigest.equals(keyDigest(secretKey))
	const isOwners = owner !== null && (await isPassword(password, owner.passwordHash ?? null))
	return {
		projectId,
		publicKey: project.publicKey,
		secretKey: isKey ? secretKey : null,
		email: owner?.email ?? null,
		password: isOwners ? password : null,
	}
}

async function ownerOf(em: EntityManager, { id }: Project) {
	const membership = await em.findOne(Membership, { projectId: id, role: 'OWNER' })
	return membership && em.findOne(User, { id: membership.userId })
}
