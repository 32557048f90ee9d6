import type { EntityManager } from '@mikro-orm/postgresql'
import test, { type ExecutionContext } from 'ava'
import { Template } from '../db/templates/template.ts'
import { insertTemplate, updateTemplate } from '../db/templates/template-records.ts'
import { emailsSentFrom } from '../db/templates/template-usage.ts'
import { transactional } from '../db/transaction.ts'
import { poolOf } from '../db/statement.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { recordQueries } from './helpers/queries.ts'

async function setupTables(t: ExecutionContext) {
	const orm = await setupDatabase(t)
	const { project } = await createProject(orm)
	const em = orm.em.fork() as EntityManager
	const values = {
		projectId: project.id,
		name: 'Welcome',
		description: 'The first mail',
		subject: 'Hello',
		body: '<p>secret words</p>',
		from: 'me@example.com',
	}
	return { em, pool: await poolOf(orm.em), values }
}

test('entities, the builder and statements see each other in one transaction, which is undone as a whole', async (t) => {
	const { em, values } = await setupTables(t)
	const { projectId } = values
	await t.throwsAsync(
		transactional(em, async (em, db) => {
			const { id } = await insertTemplate(em, values)
			t.is((await em.findOneOrFail(Template, { projectId, id })).name, 'Welcome')
			const { rowCount } = await db.query('select from templates where id = $1', [id])
			t.is(rowCount, 1)
			t.deepEqual(await emailsSentFrom(db, { projectId, templateId: id, most: null }), [
				{ count: 0 },
			])
			throw new Error('no')
		}),
		{ message: 'no' },
	)
	t.is(await em.count(Template, { projectId }), 0)
})

test('a record is written in one statement without its values, and undefined members keep theirs', async (t) => {
	const { em, pool, values } = await setupTables(t)
	const asked = recordQueries(pool)
	const made = await insertTemplate(em, values)
	const key = { projectId: values.projectId, templateId: made.id }
	const changed = await updateTemplate(em, key, {
		subject: 'secret words',
		description: undefined,
		replyTo: null,
	})
	t.like(changed, { ...values, subject: 'secret words', replyTo: null, createdAt: made.createdAt })
	t.is(asked.length, 2)
	t.notRegex(asked.join('\n'), /secret words/)
})
