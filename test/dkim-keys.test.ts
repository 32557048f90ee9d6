import { generateKeyPairSync } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { createDkimKeys } from '../activities/delivery/dkim-keys.ts'
import { seal } from '../db/domains/seal.ts'
import { Domain } from '../db/domains/domain.ts'
import { createProject, setup } from './helpers/app.ts'

const secret = 'a secret of the tests'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

async function setupKeys(t: ExecutionContext) {
	const context = await setup(t)
	const add = async (projectId: string, domain: string) => {
		const em = context.orm.em.fork()
		const sealed = seal(Buffer.from(pem), secret)
		em.create(Domain, { projectId, domain, dkimSelector: 'tempost', dkimPrivateKey: sealed })
		await em.flush()
	}
	const keys = createDkimKeys(context.pool, secret)
	return {
		...context,
		add,
		keyOf: async (...[project, domain]: [string, string]) =>
			(await keys(project, [domain])).get(domain),
	}
}

test('concurrent callers share a key look-up, and no mail is sent unsigned during it', async (t) => {
	const { add, keyOf, project } = await setupKeys(t)
	await add(project.id, 'example.org')
	const found = await Promise.all(Array.from({ length: 5 }, () => keyOf(project.id, 'example.org')))
	for (const key of found)
		t.like(key, { domain: 'example.org', selector: 'tempost', privateKey: pem })
})

test('a look-up that fails is no answer, and is made again', async (t) => {
	const { add, keyOf, pool, project } = await setupKeys(t)
	await add(project.id, 'example.org')
	await pool.query('alter table domains rename to hidden')
	await t.throwsAsync(keyOf(project.id, 'example.org'))
	await pool.query('alter table hidden rename to domains')
	t.truthy(await keyOf(project.id, 'example.org'))
})

test('a missing key of one project does not affect another project with the same domain', async (t) => {
	const { add, keyOf, orm, project } = await setupKeys(t)
	const other = await createProject(orm)
	await add(project.id, 'example.org')
	t.is(await keyOf(other.project.id, 'example.org'), undefined)
	t.truthy(await keyOf(project.id, 'example.org'))
	t.is(await keyOf(other.project.id, 'example.org'), undefined)
})
