import test from 'ava'
import type { ExecutionContext } from 'ava'
import { setup as setupApp } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'

/** A contact with an event and a mail of each of these statuses. */
async function setup(t: ExecutionContext, statuses: string[]) {
	const context = await setupApp(t)
	const { app, pool, project, withSecretKey: headers } = context
	const payload = { email: 'ann@example.com', data: { name: 'Ann' } }
	const created = await app.inject({ method: 'POST', url: '/contacts', headers, payload })
	const { id } = created.json<{ id: string }>()
	await pool.query(
		`insert into emails (project_id, contact_id, "to", to_name, "from", subject, body, source_type, status)
		select $1, $2, 'ann@example.com', 'Ann', 'us@example.com', 'For Ann', 'Dear Ann', 'TRANSACTIONAL', s
		from unnest($3::text[]) s`,
		[project.id, id, statuses],
	)
	await pool.query(`insert into events (project_id, name, contact_id) values ($1, 'seen', $2)`, [
		project.id,
		id,
	])
	const remove = (query = '') =>
		app.inject({ method: 'DELETE', url: `/contacts/${id}${query}`, headers })
	const mails = async () =>
		(
			await pool.query<Record<string, unknown>>(
				`select contact_id, "to", to_name, subject, body, status, "from", from_name
				from emails order by id`,
			)
		).rows
	return { ...context, id, remove, mails }
}

test('a deleted contact leaves its mails with their address, and its events without it', async (t) => {
	const { app, id, pool, remove, mails, withSecretKey: headers } = await setup(t, ['SENT'])
	const answer = await remove()
	t.is(answer.statusCode, 204)
	t.is(answer.body, '')
	t.is((await app.inject({ url: `/contacts/${id}`, headers })).statusCode, 404)
	t.is((await remove()).statusCode, 404)
	t.deepEqual(await mails(), [
		{
			contact_id: null,
			to: 'ann@example.com',
			to_name: 'Ann',
			subject: 'For Ann',
			body: 'Dear Ann',
			status: 'SENT',
			from: 'us@example.com',
			from_name: null,
		},
	])
	const { rows } = await pool.query('select name, contact_id from events')
	t.deepEqual(rows, [{ name: 'seen', contact_id: null }])
})

test('erasing removes the person from the mails, and stops waiting ones', async (t) => {
	const { id, pool, project, remove, mails } = await setup(t, [
		'SENT',
		'PENDING',
		'SENDING',
		'UNCERTAIN',
	])
	await pool.query(
		`with received as (
			insert into emails (project_id, contact_id, "to", "from", from_name, subject, body, source_type, status)
			values ($1, $2, 'us@example.com', 'ann@example.com', 'Ann', 'From Ann', 'I am Ann', 'INBOUND', 'RECEIVED')
			returning *
		)
		insert into events (project_id, contact_id, email_id, name, data)
		select project_id, contact_id, id, 'email.received', jsonb_build_object(
			'from', "from", 'fromName', from_name, 'subject', subject, 'emailId', id) from received
		union all
		select project_id, contact_id, id, 'email.sent', '{"subject": "For Ann", "from": "us@example.com"}'
		from emails where project_id = $1`,
		[project.id, id],
	)
	t.is((await remove('?erase=true')).statusCode, 204)
	const rows = await mails()
	t.deepEqual(
		rows.map(({ status }) => status),
		['SENT', 'CANCELLED', 'SENDING', 'FAILED', 'RECEIVED'],
	)
	const { rows: events } = await pool.query(`select data from events where name like 'email.%'`)
	t.is(events.length, 5)
	t.false(/ann/i.test(JSON.stringify([rows, events])))
	t.true(JSON.stringify(events).includes('us@example.com'))
})

test('erasing deletes a mail’s files, unless another recipient’s mail still needs them', async (t) => {
	const { app, pool, project, withSecretKey: headers } = await setup(t, [])
	await pool.query(
		`insert into domains (project_id, domain, verified_at) values ($1, 'example.com', now())`,
		[project.id],
	)
	const send = async (to: string[]) => {
		const content = Buffer.from('For Ann').toString('base64')
		const attachments = [{ filename: 'ann.txt', content, contentType: 'text/plain' }]
		const payload = { to, subject: 'Files', body: 'Files', from: 'us@example.com', attachments }
		const answer = await app.inject({ method: 'POST', url: '/v1/send', headers, payload })
		t.is(answer.statusCode, 200, answer.body)
	}
	const files = async () => (await pool.query('select from attachments')).rowCount
	const erase = async (email: string) => {
		const { rows } = await pool.query('select id from contacts where email = $1', [email])
		const url = `/contacts/${rows[0].id}?erase=true`
		t.is((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
	}
	await send(['ann@example.com'])
	await send(['ann@example.com', 'bob@example.com'])
	t.is(await files(), 2)
	await erase('ann@example.com')
	t.is(await files(), 1)
	await erase('bob@example.com')
	t.is(await files(), 0)
})

test('erase is true or false', async (t) => {
	const { remove, mails } = await setup(t, ['SENT'])
	t.is((await remove('?erase=maybe')).statusCode, 400)
	t.is((await remove('?erase=false')).statusCode, 204)
	t.is((await mails())[0]!['to'], 'ann@example.com')
})

for (const erase of [false, true])
	test(`a contact is deleted while its mail is delivered, and neither waits for the other for ever${erase ? ', also when it is erased' : ''}`, async (t) => {
		const { pool, id, remove } = await setup(t, ['SENDING'])
		const delivery = await pool.connect()
		t.teardown(() => delivery.release())
		await delivery.query('begin; select from emails for no key update')
		const removing = remove(`?erase=${erase}`) // holds the contact, waits for its mail
		await lockWaits(t, pool, 1)
		await delivery.query('select from contacts where id = $1 for key share', [id])
		await delivery.query('commit')
		t.is((await removing).statusCode, 204)
		t.is((await pool.query('select from contacts')).rowCount, 0)
	})
