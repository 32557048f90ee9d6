import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import {
	eventPayload,
	exampleTime,
	webhookPayloads,
} from '../api/webhook-endpoints/webhook-payloads.ts'
import { endpointsOf } from '../db/webhooks/webhook-endpoint-records.ts'
import { newWebhookSecret, signWebhook } from '../db/projects/webhook-secret.ts'
import { webhookTypes } from '../db/webhooks/webhook-types.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'
import { readPage } from './helpers/doc-examples.ts'
import { setupReports } from './helpers/reports.ts'
import { resendEvent } from './helpers/resend-webhooks.ts'
import { type Heard, startReceiver } from './helpers/webhook-receiver.ts'
import { addedEndpoint, setupWebhooks, takeTurn, type DeliveryJson } from './helpers/webhooks.ts'
import { poolOf } from '../db/statement.ts'
import Type from 'typebox'
import Value from 'typebox/value'

const schemaOf = (type: string) =>
	(webhookPayloads[type as keyof typeof webhookPayloads] ?? eventPayload).data

/** The data of each request has exactly the described members. */
function fits(t: ExecutionContext, heard: Heard[]) {
	for (const { type, data } of heard) {
		const schema = Type.Object(schemaOf(type), { additionalProperties: false })
		t.deepEqual([...Value.Errors(schema, data)], [], `${type}: ${JSON.stringify(data)}`)
	}
}

test('each type has an example that fits its description', (t) => {
	t.deepEqual(Object.keys(webhookPayloads), [...webhookTypes])
	for (const { data, example } of [...Object.values(webhookPayloads), eventPayload])
		t.deepEqual([...Value.Errors(Type.Object(data, { additionalProperties: false }), example)], [])
})

test('the page’s example verifies the request of a webhook', async (t) => {
	const [, example] = /^```js\n(.*?)^```/ms.exec(await readPage('docs/webhooks.md'))!
	const body = JSON.stringify({ type: 'email.sent', timestamp: exampleTime, data: {} })
	const secret = newWebhookSecret()
	const timestamp = Math.floor(Date.now() / 1000)
	const headers = {
		'webhook-id': 'id',
		'webhook-timestamp': String(timestamp),
		'webhook-signature': signWebhook([secret], { id: 'id', timestamp, body }),
	}
	const program = `const rawBody = ${JSON.stringify(body)}
		const request = { headers: ${JSON.stringify(headers)} }
		${example}
		console.log(JSON.stringify(event))`
	const { stdout } = await promisify(execFile)(
		process.execPath,
		['--input-type=module', '--eval', program],
		{ env: { ...process.env, WEBHOOK_SECRET: secret } },
	)
	t.deepEqual(JSON.parse(stdout), JSON.parse(body))
})

test('changes of contacts, their segments and their events are announced', async (t) => {
	const { endpoint, ask, turn, track, receiver } = await setupWebhooks(t)
	const { id } = await endpoint(['*'])
	const { id: contactId } = await ask<{ id: string }>(
		'POST',
		'/contacts',
		{ email: 'ann@example.org', subscribed: true, data: { plan: 'pro' } },
		201,
	)
	await ask('PATCH', `/contacts/${contactId}`, { data: { plan: 'free' } })
	await ask('PATCH', `/contacts/${contactId}`, { data: { plan: 'free' } })
	await ask('PATCH', `/contacts/${contactId}`, { subscribed: false })
	const segment = { name: 'VIP', type: 'STATIC', trackMembership: true }
	const { id: segmentId } = await ask<{ id: string }>('POST', '/segments', segment, 201)
	const members = { emails: ['ann@example.org'] }
	await ask('POST', `/segments/${segmentId}/members`, members)
	await ask('DELETE', `/segments/${segmentId}/members`, members)
	await track('signup', 'ann@example.org', { source: 'ad' })
	await turn(id)
	await ask('DELETE', `/contacts/${contactId}`, undefined, 204)
	await turn(id)
	fits(t, receiver.heard)
	t.deepEqual(receiver.heard.map(({ type }) => type).toSorted(), [
		'contact.created',
		'contact.deleted',
		'contact.unsubscribed',
		'contact.updated',
		'contact.updated',
		'contact.updated',
		'event.signup',
		'segment.entered',
		'segment.left',
	])
	const of = (type: string) => receiver.heard.filter((one) => one.type === type)
	t.like(of('contact.created')[0]!.data, { contactId, subscribed: true, data: { plan: 'pro' } })
	t.like(of('segment.entered')[0]!.data, {
		email: 'ann@example.org',
		segmentId,
		segmentName: 'VIP',
	})
	t.deepEqual(of('contact.deleted')[0]!.data, { contactId, email: 'ann@example.org' })
})

test('a tracked event is never announced as one of the service, whatever its name', async (t) => {
	const { endpoint, turn, track, receiver } = await setupWebhooks(t)
	const { id } = await endpoint(['*'])
	const names = ['segment.a.b.entry', 'segment..exit', 'segment.entry']
	for (const name of names)
		await track(name, 'ann@example.org', { segmentId: 'VIP', segmentName: 'VIP' })
	await turn(id)
	const types = receiver.heard.map(({ type }) => type)
	t.deepEqual(
		types.filter((type) => !type.startsWith('contact.')).toSorted(),
		names.map((name) => `event.${name}`).toSorted(),
	)
})

test('each outcome of a mail is announced once', async (t) => {
	const { pool, project, send, claim, worker, execute } = await setupLedger(t)
	const receiver = await startReceiver(t)
	const endpointId = await addedEndpoint(pool, project.id, receiver.url, ['email.*'])
	await execute(
		`insert into suppressions (project_id, email, reason) values (?, 'bad@example.org', 'BOUNCE')`,
		[project.id],
	)
	const names = ['ann', 'refused', 'failing', 'later', 'lost', 'bad', 'late']
	const [ann, ...others] = await send(names.map((name) => `${name}@example.org`))
	const { provider } = scriptedProvider(({ to }) => {
		if (to.email.startsWith('refused'))
			return { kind: 'REJECTED', error: '550 No such user', bounce: true }
		if (to.email.startsWith('failing'))
			return { kind: 'REJECTED', error: '554 Refused', bounce: false }
		if (to.email.startsWith('later'))
			return { kind: 'DEFERRED', error: '450 Later', retryAfterMs: 60_000 }
		if (to.email.startsWith('lost')) return { kind: 'UNKNOWN', error: 'The connection went away' }
		return undefined
	})
	const { pass } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	await pass(claimId)
	await execute('update emails set due_at = null where due_at is not null')
	await pass(claimId)
	for (const [name, data] of Object.entries({
		'email.delivery': { deliveredAt: '2026-11-23T10:00:00.000Z' },
		'email.open': { openedAt: '2026-11-23T10:00:00.000Z', opens: 1, isFirstOpen: true },
		'email.click': {
			clickedAt: '2026-11-23T10:00:00.000Z',
			link: 'https://example.com/',
			clicks: 1,
			isFirstClick: true,
		},
		'email.complaint': { complainedAt: '2026-11-23T10:00:00.000Z' },
	}))
		await execute(
			'insert into events (project_id, name, email_id, contact_id, data) select project_id, ?, id, contact_id, ? from emails where id = ?',
			[name, JSON.stringify({ ...data, subject: 'x', messageId: 'x' }), ann],
		)
	await execute(`update emails set status = 'CANCELLED', error = 'Cancelled' where id = ?`, [
		others[2],
	])
	await takeTurn(pool, { projectId: project.id, endpointId })
	fits(t, receiver.heard)
	const heard = receiver.heard.map(
		({ type, data }) => `${String(data['email']).split('@')[0]} ${type}`,
	)
	t.deepEqual(heard.toSorted(), [
		'ann email.clicked',
		'ann email.complained',
		'ann email.delivered',
		'ann email.opened',
		'ann email.sent',
		'bad email.suppressed',
		'failing email.failed',
		'late email.sent',
		'later email.cancelled',
		'later email.delayed',
		'lost email.uncertain',
		'refused email.bounced',
	])
	t.like(receiver.heard.find(({ type }) => type === 'email.sent')!.data, {
		email: 'ann@example.org',
		subject: 'To ann@example.org',
		from: 'app@example.com',
		sourceType: 'TRANSACTIONAL',
	})
})

test('a mail that arrives is announced with its sender', async (t) => {
	const { post, pool, project } = await setupReports(t)
	const receiver = await startReceiver(t)
	const endpointId = await addedEndpoint(pool, project.id, receiver.url, ['email.*'])
	const mail = { from: 'Ann <ann@example.org>', to: ['help@example.com'], subject: 'Re: Hello' }
	const more = { message_id: '<1@example.org>', received_for: mail.to, attachments: [] }
	t.is((await post(resendEvent('received', mail, more))).statusCode, 200)
	await takeTurn(pool, { projectId: project.id, endpointId })
	fits(t, receiver.heard)
	t.is(receiver.heard.length, 1)
	t.like(receiver.heard[0], {
		type: 'email.received',
		data: {
			email: 'ann@example.org',
			from: 'ann@example.org',
			to: 'help@example.com',
			subject: 'Re: Hello',
			sourceType: 'INBOUND',
			messageId: '<1@example.org>',
		},
	})
})

test('a scheduled mail is announced when it is accepted, moved and cancelled', async (t) => {
	const { endpoint, ask, turn, receiver, pool, project } = await setupWebhooks(t)
	await pool.query(
		`insert into domains (project_id, domain, verified_at) values ($1, 'example.com', now())`,
		[project.id],
	)
	const { id } = await endpoint(['email.*'])
	const [first, second] = [1, 2].map((days) =>
		new Date(Date.now() + days * 86_400_000).toISOString(),
	)
	const tags = [{ name: 'kind', value: 'reminder' }]
	const mail = {
		to: 'ann@example.org',
		from: 'hello@example.com',
		subject: 'Later',
		body: '<p>1</p>',
	}
	const { data } = await ask<{ data: { emails: [{ email: string }] } }>('POST', '/v1/send', {
		...mail,
		tags,
		delivery: { at: first },
	})
	const emailId = data.emails[0].email
	await ask('PATCH', `/emails/${emailId}`, { delivery: { at: second } })
	await ask('PATCH', `/emails/${emailId}`, { delivery: { at: second } })
	await ask('POST', `/emails/${emailId}/cancel`)
	await turn(id)
	fits(t, receiver.heard)
	t.deepEqual(
		receiver.heard.map(({ type, data }) => [
			type,
			data['emailId'],
			data['scheduledFor'],
			data['tags'],
		]),
		[
			['email.scheduled', emailId, first, tags],
			['email.scheduled', emailId, second, tags],
			['email.cancelled', emailId, undefined, tags],
		],
	)
})

test('many mails that are sent at once are announced each, also to an endpoint that rests or is disabled', async (t) => {
	const { pool, project, send, claim, worker, execute } = await setupLedger(t)
	const receiver = await startReceiver(t)
	const add = () => addedEndpoint(pool, project.id, receiver.url, ['email.*'])
	const [open, resting, disabled, ordered] = [await add(), await add(), await add(), await add()]
	await execute(
		`update webhook_endpoints set resting_until = now() + interval '1 day' where id = ?`,
		[resting],
	)
	await execute(`update webhook_endpoints set disabled_reason = 'OWNER' where id = ?`, [disabled])
	await execute(`update webhook_endpoints set ordering = 'email' where id = ?`, [ordered])
	const ids = await send(Array.from({ length: 45 }, (_, i) => `reader${i}@example.org`))
	const { pass } = await worker(scriptedProvider().provider)
	await pass(claimOf((await claim())[0]))
	const waiting = await endpointsOf(pool, { projectId: project.id })
	t.deepEqual(
		waiting.map((endpoint) => [endpoint.id, endpoint.waiting]),
		[ordered, disabled, resting, open].map((id) => [
			id,
			id === disabled ? waiting[1]!.waiting : 45,
		]),
	)
	for (const endpointId of [open, resting, disabled])
		await takeTurn(pool, { projectId: project.id, endpointId })
	t.deepEqual(
		receiver.heard.map(({ data }) => data['emailId'] as string).toSorted(),
		ids.toSorted(),
	)
	t.deepEqual(
		await execute(
			`select endpoint_id as id, status, count(*)::int from webhook_deliveries group by 1, 2 order by 1`,
		),
		[
			{ id: open, status: 'DELIVERED', count: 45 },
			{ id: resting, status: 'PENDING', count: 45 },
			{ id: disabled, status: 'HELD', count: 45 },
			{ id: ordered, status: 'PENDING', count: 45 },
		],
	)
	fits(t, receiver.heard)
})

test('changes of campaigns, executions, domains and projects are announced', async (t) => {
	const { endpoint, turn, pool, project, receiver } = await setupWebhooks(t)
	const { id } = await endpoint(['campaign.*', 'execution.*', 'domain.*', 'project.suspended'])
	const run = (sql: string) => pool.query(sql.replaceAll('$project', `'${project.id}'`))
	await run(`insert into campaigns (project_id, name, subject, body, "from", audience_type)
		select $project, n::text, 'Hi', '', 'a@example.com', 'ALL' from generate_series(1, 2) n`)
	await run(`update campaigns set status = 'SENDING'`)
	await run(`update campaigns set paused_at = now(), paused_reason = 'OWNER' where name = '1'`)
	await run(
		`update campaigns set status = 'CANCELLED', cancelled_reason = 'OWNER' where name = '1'`,
	)
	await run(`update campaigns set status = 'SENT' where name = '2'`)
	await run(`insert into automations (project_id, name, enabled, trigger_type, allow_reentry, current_version)
		values ($project, 'Onboarding', true, 'MANUAL', true, 1)`)
	await run(`insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select $project, id, 1, '{}', 'x', '{}' from automations`)
	for (const status of ['COMPLETED', 'FAILED', 'CANCELLED']) {
		await run(
			`insert into contacts (project_id, email, subscribed) values ($project, '${status.toLowerCase()}@example.org', true)`,
		)
		await run(`insert into executions (project_id, automation_id, version, contact_id, allow_reentry)
			select $project, a.id, 1, c.id, true from automations a, contacts c where c.email like '${status.toLowerCase()}%'`)
		await run(
			`update executions set status = '${status}', completed_at = now() where status = 'RUNNING'`,
		)
	}
	await run(`insert into domains (project_id, domain) values ($project, 'example.com')`)
	await run('update domains set verified_at = now()')
	await run(`update domains set verified_at = null, last_error = 'No DKIM record'`)
	await run(`update projects set disabled_reason = 'EMAIL_REPUTATION' where id = $project`)
	await turn(id)
	fits(t, receiver.heard)
	t.deepEqual(receiver.heard.map(({ type }) => type).toSorted(), [
		'campaign.cancelled',
		'campaign.completed',
		'campaign.paused',
		'campaign.started',
		'campaign.started',
		'domain.failed',
		'domain.verified',
		'execution.cancelled',
		'execution.completed',
		'execution.failed',
		'execution.started',
		'execution.started',
		'execution.started',
		'project.suspended',
	])
})

test('an endpoint gets only the types that it names, and only those of its project', async (t) => {
	const { endpoint, turn, track, receiver, orm, app, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['event.one', 'contact.*'])
	await track('one')
	await track('two')
	const other = await createProject(orm)
	await app.inject({
		method: 'POST',
		url: '/events/track',
		headers: other.withSecretKey,
		payload: { email: 'eve@example.org', event: 'one' },
	})
	await turn(id)
	t.deepEqual(receiver.heard.map(({ type }) => type).toSorted(), ['contact.created', 'event.one'])
	const { rows } = await pool.query('select from webhook_deliveries')
	t.is(rows.length, 2)
})

test('all endpoints of a project get an event under the same id', async (t) => {
	const { endpoint, turn, track, receiver } = await setupWebhooks(t)
	const ids = [(await endpoint(['event.*'])).id, (await endpoint(['*'])).id]
	await track('one')
	for (const id of ids) await turn(id)
	const events = receiver.heard.filter(({ type }) => type === 'event.one')
	t.is(events.length, 2)
	t.is(events[0]!.headers['webhook-id'], events[1]!.headers['webhook-id'])
})

test('an event that is rolled back is not delivered', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	await addedEndpoint(pool, project.id, 'https://example.com/', ['*'])
	const db = await pool.connect()
	await db.query('begin')
	await db.query(`insert into events (project_id, name) values ($1, 'x')`, [project.id])
	t.is((await db.query('select from webhook_deliveries')).rows.length, 1)
	await db.query('rollback')
	db.release()
	t.is((await pool.query('select from webhook_deliveries')).rows.length, 0)
})

test('erasing a person erases them from stored payloads and answers, and every delivery can still be read', async (t) => {
	const { endpoint, ask, turn, track, receiver, deliveries, pool, project } = await setupWebhooks(t)
	const { id } = await endpoint(['*'])
	const email = 'erase.me@example.org'
	const sent = { to: email, from: 'hello@erasing.example.com', subject: 'For erase.me', body: 'Hi' }
	await pool.query(
		`insert into domains (project_id, domain, verified_at)
		select id, 'erasing.example.com', now() from projects where id = $1`,
		[project.id],
	)
	await ask('POST', '/v1/send', sent)
	await track('signup', email, { phone: '555-erase.me' })
	await pool.query(`update emails set status = 'FAILED', error = 'No erase.me here'`)
	receiver.answer = (response, { body }) => void response.writeHead(500).end(body)
	await turn(id)
	await track('waiting', email, { phone: '555-erase.me' })
	const { rows } = await pool.query<{ id: string }>('select id from contacts')
	await ask('DELETE', `/contacts/${rows[0]!.id}?erase=true`, undefined, 204)
	const left = await pool.query<{ all: string }>(
		`select d::text as all from webhook_deliveries d where d::text like '%erase.me%'`,
	)
	t.deepEqual(left.rows, [])
	receiver.heard.length = 0
	await pool.query('update webhook_endpoints set resting_until = null')
	await turn(id)
	t.true(receiver.heard.length > 0)
	for (const { body } of receiver.heard) t.false(body.includes('erase.me'), body)
	const { data } = await deliveries(id)
	const answers = async () => {
		const all = []
		for (const one of data)
			all.push(...(await ask<DeliveryJson>('GET', `/webhook-deliveries/${one.id}`)).attempts)
		return all.map(({ answer }) => answer)
	}
	const read = await answers()
	t.true(read.includes(null))
	// As earlier releases recorded these tries.
	await pool.query(`update webhook_deliveries set attempts = (
		select jsonb_agg(case a->'answer' when 'null' then a - 'answer' else a end order by place)
		from jsonb_array_elements(attempts) with ordinality as tries(a, place)) where attempts <> '[]'`)
	t.deepEqual(await answers(), read)
})

test('the page about webhooks has an example of each type', async (t) => {
	const page = await readPage('docs/webhooks.md')
	const examples = [...page.matchAll(/^### (\S+)\n\n([^\n]*)\.\n\n```json\n(.*?)^```/gms)].map(
		([, name, summary, json]) => ({ name, summary, ...(JSON.parse(json!) as object) }),
	)
	const all = { ...webhookPayloads, 'event.signup': eventPayload }
	t.deepEqual(
		examples,
		Object.entries(all).map(([type, { summary, example }]) => ({
			name: type === 'event.signup' ? 'event.NAME' : type,
			summary,
			type,
			timestamp: exampleTime,
			data: example,
		})),
	)
})
