import type { EntityManager } from '@mikro-orm/postgresql'
import { poolOf } from '../../db/statement.ts'
import { Template } from '../../db/templates/template.ts'
import type { Stack } from '../stack.ts'

export const poolOfStack = ({ orm }: Stack) => poolOf(orm.em.fork() as EntityManager)

/** Creates a template. */
export async function templateOf({ orm, projectId }: Stack): Promise<string> {
	const em = orm.em.fork()
	const template = em.create(Template, {
		projectId,
		name: 'Measured',
		subject: 'Hello {{ name }}',
		body: '<p>Hello {{ name }}, {{ event.product ?? "nothing" }} it is.</p>',
		from: 'bench@example.com',
		type: 'TRANSACTIONAL',
	})
	await em.flush()
	return template.id
}
