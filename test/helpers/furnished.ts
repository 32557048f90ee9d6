import { randomUUID } from 'node:crypto'
import { Domain } from '../../db/domains/domain.ts'
import type { setup } from './app.ts'

export const missing = randomUUID()

/** Valid bodies that can't be generated from their schema alone. */
export const bodies: Record<string, object> = {
	'POST /segments': { name: 'S', type: 'STATIC' },
	'POST /segments/{id}/members': { emails: ['a@example.org'] },
	'POST /workflows': { name: 'W', eventName: 'signed up' },
	'POST /workflows/{id}/steps': { name: 'S', type: 'EXIT' },
	'POST /templates': { name: 'T', subject: 'S', body: 'B', from: 'me@example.com' },
	'POST /campaigns': {
		name: 'C',
		subject: 'S',
		body: 'B',
		from: 'me@example.com',
		audienceType: 'ALL',
	},
	'POST /v1/send': { to: 'a@example.org', subject: 'S', body: 'B', from: 'me@example.com' },
	'POST /domains': { domain: 'example.net' },
	'POST /webhook-endpoints': { url: 'https://example.org/webhooks', events: ['*'] },
}
for (const operation of ['subscribe', 'unsubscribe', 'delete'])
	bodies[`POST /contacts/bulk-${operation}`] = { contactIds: [missing] }

type Furnished = Pick<
	Awaited<ReturnType<typeof setup>>,
	'app' | 'orm' | 'pool' | 'project' | 'withSecretKey'
>

/** One record of every resource in paths, by the resource's name. */
export async function furnish({ app, orm, pool, project, withSecretKey: headers }: Furnished) {
	const post = async (url: string, payload: object) => {
		const answer = await app.inject({ method: 'POST', url, headers, payload })
		if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.body}`)
		const body = answer.json()
		return (body.success ? body.data : body) as {
			id: string
			jobId: string
			emails: { email: string }[]
		}
	}
	const em = orm.em.fork()
	const name = `${project.id}.example`
	const domain = em.create(Domain, { projectId: project.id, domain: name, verifiedAt: new Date() })
	await em.flush()
	const from = `me@${name}`
	const contact = (await post('/contacts', { email: 'one@example.org' })).id
	const template = (await post('/templates', { ...bodies['POST /templates'], from })).id
	const campaign = (await post('/campaigns', { ...bodies['POST /campaigns'], from })).id
	const segment = (await post('/segments', bodies['POST /segments']!)).id
	const workflow = (await post('/workflows', bodies['POST /workflows']!)).id
	const step = (await post(`/workflows/${workflow}/steps`, { name: 'S', type: 'EXIT' })).id
	const { rows: transitions } = await pool.query(
		'select id from automation_transitions where project_id = $1',
		[project.id],
	)
	const enabled = await app.inject({
		method: 'PATCH',
		url: `/workflows/${workflow}`,
		headers,
		payload: { enabled: true },
	})
	if (enabled.statusCode !== 200) throw new Error(enabled.body)
	const execution = (await post(`/workflows/${workflow}/executions`, { contactId: contact })).id
	const mail = await post('/v1/send', { ...bodies['POST /v1/send'], from })
	const job = (await post('/contacts/bulk-subscribe', { contactIds: [contact] })).jobId
	const endpoint = (await post('/webhook-endpoints', bodies['POST /webhook-endpoints']!)).id
	const period = { from: '2026-11-22T00:00:00Z', to: '2026-11-23T00:00:00Z' }
	const replay = (await post(`/webhook-endpoints/${endpoint}/replay`, period)).jobId
	await post('/events/track', { email: 'one@example.org', event: 'signed up' })
	const { rows: deliveries } = await pool.query(
		'select id from webhook_deliveries where project_id = $1',
		[project.id],
	)
	const { rows: invitations } = await pool.query(
		`insert into invitations (project_id, email, role, token_digest, invited_by, expires_at)
		values ($1, 'guest@example.org', 'MEMBER', uuid_send(uuidv7()), 'owner@example.net', now() + '1 day')
		returning id`,
		[project.id],
	)
	const ids: Record<string, string> = {
		contact,
		template,
		campaign,
		segment,
		workflow,
		step,
		transition: transitions[0].id,
		version: '1',
		execution,
		job,
		email: mail.emails[0]!.email,
		domain: domain.id,
		'webhook endpoint': endpoint,
		'webhook delivery': deliveries[0].id,
		replay,
		invitation: invitations[0].id,
	}
	return ids
}
