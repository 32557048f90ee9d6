import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { importActivities } from '../activities/imports/imports.ts'
import { foldEngagements } from '../db/emails/engagement-fold.ts'
import { chores } from '../db/housekeeping.ts'
import type { JobKey } from '../db/jobs/jobs.ts'
import { addedEndpoint } from './helpers/webhooks.ts'
import { mailStep, setupExecutions, type StepSketch, waitStep } from './helpers/executions.ts'

const zebra = 'zebra@example.org'

/** A step that writes to another address. */
const tellTo = (customEmail: string): StepSketch => [
	'SEND_EMAIL',
	{ recipient: { type: 'CUSTOM', customEmail } },
	'Tell',
]

/** A project with all possible data about one person, named Zebra. */
async function setupPerson(t: ExecutionContext, email = zebra) {
	const context = await setupExecutions(t)
	const { app, pool, project, call, select, freeze, track, advance, withSecretKey } = context
	const name = email.split('@')[0]!
	const ok = async (method: 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
		const answer = await call(method, url, payload)
		t.true(answer.statusCode < 300, `${method} ${url}: ${answer.body}`)
		return answer.body === '' ? {} : answer.json<{ id: string }>()
	}
	const send = (payload: object, key: string) =>
		app.inject({
			method: 'POST',
			url: '/v1/send',
			headers: { ...withSecretKey, 'idempotency-key': key },
			payload: { from: 'us@example.com', ...payload },
		})

	/** Mails from before the contact existed, and a mail of a deleted contact. */
	const first = await send({ to: email, subject: name, body: name }, 'first')
	const [{ contact }] = first.json<{ data: { emails: [{ contact: { id: string } }] } }>().data
		.emails
	await ok('DELETE', `/contacts/${contact.id}`)
	const file = { filename: `${name}.txt`, content: btoa(name), contentType: 'text/plain' }
	const mail = { to: email, subject: name, body: `Dear ${name}`, headers: { 'X-Name': name } }
	t.is(
		(await send({ ...mail, data: { nick: name }, attachments: [file] }, 'second')).statusCode,
		200,
	)
	const [{ id }] = (await select<{ id: string }>('select id from contacts where email = $1', [
		email,
	])) as [{ id: string }]
	await ok('PATCH', `/contacts/${id}`, { subscribed: true, data: { [`is`]: name } })
	await pool.query(
		`insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, 1, now(), 'DEFERRED', 'smtp', $2 from emails where contact_id = $1`,
		[id, `450 ${name}: later`],
	)
	await pool.query(
		`insert into mailbox_messages (project_id, email_id, "to", "from", subject, raw)
		select project_id, id, "to", "from", subject, convert_to($2, 'UTF8') from emails where contact_id = $1`,
		[id, name],
	)
	await pool.query(
		`insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.click', contact_id, id, $1 from emails where "to" = $2`,
		[{ subject: name, link: `https://example.com/${name}` }, email],
	)
	await pool.query(
		`insert into emails (project_id, contact_id, "to", "from", from_name, subject, body, source_type, status)
		select $1, contact, 'us@example.com', $2, $3, $3, $3, 'INBOUND', 'RECEIVED'
		from unnest(array[$4::uuid, null]) contact`,
		[project.id, email, name, id],
	)

	// An import, its changes, and a row that it refused.
	const upload = (csv: string) => {
		const form = new FormData()
		form.append('file', new Blob([csv], { type: 'text/csv' }), 'contacts.csv')
		return app.inject({
			method: 'POST',
			url: '/contacts/import',
			headers: withSecretKey,
			payload: form,
		})
	}
	const activities = importActivities({ pool, stopping: new AbortController().signal })
	for (const csv of [
		`email,city\n${email},${name}town\nbob@example.org,Bonn\n`,
		`email,city\n${email},Rome\n`,
		// A refused row, whose address is spelled in another way.
		`email,city\n${email.slice(0, 1).toUpperCase()}${email.slice(1)},${'x'.repeat(70_000)}\n`,
	]) {
		const { jobId } = (await upload(csv)).json<{ jobId: string }>()
		const act = (work: (job: JobKey) => Promise<unknown>) =>
			new MockActivityEnvironment().run(work, { projectId: project.id, jobId })
		await act(activities.stageImport)
		await act(activities.applyImport)
		await act(activities.clearImport)
	}

	// Workflows: a waiting execution, a failed one, and a mail from it to another person.
	const about = await context.template({ subject: 'About {{ email }}', body: '{{ event.nick }}' })
	await freeze(
		{ on: 'joined', steps: [mailStep, tellTo('bob@example.org'), waitStep('left')] },
		about,
	)
	const failing: StepSketch = ['UPDATE_CONTACT', { data: { nick: '{% for' }, subscribed: null }]
	await freeze({ on: 'joined', name: 'Failing', steps: [failing] })
	t.is((await track('joined', { nick: { value: name, persistent: false } }, email)).statusCode, 200)
	for (const { id: execution } of await select<{ id: string }>(
		'select id from executions order by id',
	))
		await advance(execution)
	await pool.query(`update executions set error = $1 where status = 'FAILED'`, [
		`InvalidData: ${name}`,
	])
	await pool.query(
		`insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.sent', contact_id, id, $1 from emails where subject like 'About%'`,
		[{ subject: `About ${name}` }],
	)
	await pool.query(
		`insert into events (project_id, name, email_id, data)
		select project_id, 'noted', id, $1 from emails where contact_id = $2 limit 1`,
		[{ note: name }, id],
	)

	t.is((await track('segment.chosen', { note: name }, email)).statusCode, 200)

	await announceAbout(pool, project.id, name, email)

	const named = { mode: 'query', filter: { search: name } }
	const bulk = (await call('POST', '/contacts/bulk-subscribe', named)).json<{ jobId: string }>()
	await ok('DELETE', `/contacts/bulk/${bulk.jobId}`)

	await ok('POST', '/suppressions', { email })
	await ok('DELETE', `/suppressions/${email}`)
	await ok('POST', '/suppressions', { email })

	/** The columns that still contain data about the person. */
	async function traces() {
		const columns = await select<{ table: string; column: string; type: string }>(
			`select c.relname as "table", a.attname as "column", a.atttypid::regtype::text as type
			from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
			where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
				and a.atttypid::regtype::text in ('text', 'jsonb', 'json', 'bytea', 'text[]', 'jsonb[]', 'character varying')
			order by 1, 2`,
		)
		const found: string[] = []
		for (const { table, column, type } of columns) {
			const test =
				type === 'bytea'
					? `position(convert_to($1, 'UTF8') in "${column}") > 0`
					: `position($1 in lower("${column}"::text)) > 0`
			const rows = await select(`select from "${table}" where ${test}`, [name])
			if (rows.length > 0) found.push(`${table}.${column}`)
		}
		return found
	}
	const erase = () => call('DELETE', `/contacts/${id}?erase=true`)
	return { ...context, id, traces, erase, ok, send }
}

/** Webhooks with texts about the person: of executions, of their mails, and of mails to others with a copy for them. */
async function announceAbout(pool: Pool, projectId: string, name: string, email: string) {
	await addedEndpoint(pool, projectId, 'https://example.com/', ['execution.*', 'email.*'])
	await pool.query(`update executions set status = 'RUNNING' where status = 'FAILED'`)
	await pool.query(`update executions set status = 'FAILED', error = $1 where status = 'RUNNING'`, [
		`InvalidData: ${name}`,
	])
	await pool.query(
		`insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.received', contact_id, id, $1 from emails where "from" = $2`,
		[{ messageId: `<1@${name}.example.org>` }, email],
	)
	const error = `550 <${email}>: refused`
	const { rows } = await pool.query<{ id: string }>(
		`insert into emails (project_id, "to", "from", subject, source_type, copies)
		select $1, 'bob@example.org', 'us@example.com', 'Copied', 'TRANSACTIONAL', $2::jsonb
		from generate_series(1, 2) returning id`,
		[projectId, JSON.stringify([{ email, kind: 'cc' }])],
	)
	const [failed, bounced] = rows.map(({ id }) => id)
	await pool.query('select announce_delay($1, $2, $3)', [projectId, failed, error])
	await pool.query(`update emails set status = 'FAILED', error = $2 where id = $1`, [failed, error])
	await pool.query(`update emails set status = 'BOUNCED', error = $2 where id = $1`, [
		bounced,
		error,
	])
	await pool.query(
		`insert into events (project_id, name, email_id) values ($1, 'email.bounce', $2)`,
		[projectId, bounced],
	)
	await pool.query(
		`insert into events (project_id, name, email_id, data) values ($1, 'email.complaint', $2, $3)`,
		[projectId, failed, { copy: 0, complainedAt: new Date() }],
	)
	// As after a try whose answer repeats the request.
	await pool.query(
		`update webhook_deliveries set payload = $1, attempts = jsonb_build_array(jsonb_build_object('answer', $1::text))
		where email_id = $2`,
		[JSON.stringify({ data: { error } }), bounced],
	)
}

test('no table keeps anything of an erased person', async (t) => {
	const { traces, erase, select } = await setupPerson(t)
	const before = await traces()
	for (const column of [
		'attachments.content',
		'attachments.filename',
		'attempts.error',
		'audit_entries.target',
		'contacts.data',
		'emails.attachments',
		'emails.body',
		'emails.from',
		'emails.headers',
		'emails.to',
		'events.data',
		'execution_steps.output',
		'executions.error',
		'executions.event',
		'import_changes.befores',
		'job_errors.email',
		'mailbox_messages.raw',
		'suppressions.email',
		'webhook_deliveries.attempts',
		'webhook_deliveries.data',
		'webhook_deliveries.payload',
	])
		t.true(before.includes(column), column)
	t.false(before.includes('idempotency_keys.response'))
	t.is((await erase()).statusCode, 204)
	t.deepEqual(await traces(), [])
	// Waiting mails are not sent, with a reason; the same is true of the mail about the person.
	const mails = await select<{ to: string; status: string; error: string | null }>(
		`select "to", status, error from emails where source_type <> 'INBOUND' and subject <> 'Copied'`,
	)
	t.true(mails.some(({ to }) => to === 'bob@example.org'))
	for (const { status, error } of mails)
		t.deepEqual([status, error], ['CANCELLED', 'The contact was erased'])
})

test('a former address of an erased person is forgotten, unless it is another’s by now', async (t) => {
	const { call, ok, send, pool, project, select } = await setupPerson(t)
	const former = ['zebra@former.example', 'zebra@given.example']
	const ids: string[] = []
	for (const email of former) {
		await send({ to: email, subject: 'Hi', body: 'Hi' }, email)
		const [row] = await select<{ id: string }>('select id from contacts where email = $1', [email])
		ids.push(row!.id)
		await ok('POST', '/suppressions', { email })
		await pool.query(
			`insert into emails (project_id, "to", "from", subject, source_type, copies)
			values ($1, 'bob@example.org', 'us@example.com', 'Copied', 'TRANSACTIONAL', $2)`,
			[project.id, JSON.stringify([{ email, kind: 'cc' }])],
		)
		await ok('PATCH', `/contacts/${row!.id}`, { email: email.replace('@', '@new.') })
	}
	await ok('POST', '/contacts', { email: former[1] })
	for (const id of ids) t.is((await call('DELETE', `/contacts/${id}?erase=true`)).statusCode, 204)
	const kept = await select<{ email: string }>(
		`select email from suppressions where email like '%r.example' or email like '%n.example'
		union all select copy->>'email' from emails, jsonb_array_elements(copies) copy where copy->>'email' like '%.example'`,
	)
	t.deepEqual(kept, [{ email: former[1]! }, { email: former[1]! }])
})

test('erasing one person leaves all others unchanged', async (t) => {
	const { traces, contact, call } = await setupPerson(t, 'bison@example.org')
	const id = await contact(zebra, { nick: 'bison', city: 'Bonn' })
	// The field statistics are folded at this time, so they are left out.
	const kept = async () => (await traces()).filter((column) => !column.startsWith('contact_field'))
	const before = await kept()
	t.is((await call('DELETE', `/contacts/${id}?erase=true`)).statusCode, 204)
	t.deepEqual(await kept(), before)
})

test('the stored answer of a send has its addresses, until their person is erased', async (t) => {
	const { send, erase } = await setupPerson(t)
	const original = await send({ to: [zebra, 'bob@example.org'], subject: 'S', body: 'B' }, 'third')
	const stored = async () => {
		const again = await send({ to: zebra, subject: 'S', body: 'B' }, 'third')
		t.is(again.statusCode, 409)
		return again.json<{ error: { details: { response: object } } }>().error.details.response
	}
	t.deepEqual(await stored(), original.json())
	await erase()
	const text = JSON.stringify(await stored())
	t.false(text.includes('zebra'))
	t.true(text.includes('bob@example.org'))
})

test('the stored answer of a tracked event has its data, until its person is erased', async (t) => {
	const { app, withSecretKey, id, erase, traces } = await setupPerson(t)
	const track = () =>
		app.inject({
			method: 'POST',
			url: '/events/track',
			headers: { ...withSecretKey, 'idempotency-key': 'signup' },
			payload: { name: 'signup', contactId: id, data: { nick: 'zebra', years: 5 } },
		})
	const stored = async () => {
		const again = await track()
		t.is(again.statusCode, 409)
		return again.json<{ error: { details: { response: object } } }>().error.details.response
	}
	const original = await track()
	t.is(original.statusCode, 201)
	t.deepEqual(await stored(), original.json())
	await erase()
	t.deepEqual(await traces(), [])
	t.deepEqual(await stored(), { ...original.json(), data: {} })
})

test('mail about an erased person is erased although its workflow was deleted before', async (t) => {
	const context = await setupExecutions(t)
	const { pool, call, freeze, track, advance, select } = context
	const about = await context.template({ subject: 'About {{ email }}', body: '{{ email }}' })
	const workflowId = await freeze({ on: 'joined', steps: [tellTo('bob@example.org')] }, about)
	for (const email of [zebra, 'carol@example.org']) await track('joined', {}, email)
	for (const { id } of await select<{ id: string }>('select id from executions')) await advance(id)
	t.is((await call('DELETE', `/workflows/${workflowId}`)).statusCode, 204)
	await pool.query('update executions set is_closing = false')
	const { remove } = chores.find(({ what }) => what === 'executions of deleted workflows')!
	await remove(pool, 2000, 30)
	t.deepEqual(await select('select from executions'), [])
	const [{ id }] = (await select<{ id: string }>('select id from contacts where email = $1', [
		zebra,
	])) as [{ id: string }]
	t.is((await call('DELETE', `/contacts/${id}?erase=true`)).statusCode, 204)
	const mails = await select<{ to: string; subject: string }>(
		'select "to", subject from emails order by subject',
	)
	t.deepEqual(mails, [
		{ to: 'bob@example.org', subject: '' },
		{ to: 'bob@example.org', subject: 'About carol@example.org' },
	])
})

test('a click on a mail about an erased person counts, and its link is not kept', async (t) => {
	const { pool, select, erase, traces } = await setupPerson(t)
	const [mail] = await select<{ id: string }>(
		`update emails set status = 'SENT', sent_at = now()
		where subject like 'About%' and "to" = 'bob@example.org' returning id`,
	)
	t.is((await erase()).statusCode, 204)
	await pool.query(
		`insert into engagements (project_id, email_id, kind, fetcher, link, at)
		select project_id, id, 'CLICK', 'PERSON', 'https://example.com/zebra', now() from emails where id = $1`,
		[mail!.id],
	)
	await foldEngagements(pool, { limit: 10 })
	t.like((await select('select status, clicks from emails where id = $1', [mail!.id]))[0], {
		status: 'CLICKED',
		clicks: 1,
	})
	t.deepEqual(await traces(), [])
})

test('a step that wrote to an erased person no longer has the address', async (t) => {
	const context = await setupExecutions(t)
	const { call, contact, freeze, track, advance, select } = context
	const about = await context.template({ subject: 'Hello', body: 'Hello' })
	await freeze({ on: 'joined', steps: [tellTo('{{ boss }}')] }, about)
	const id = await contact(zebra)
	await contact('carol@example.org', { boss: zebra })
	await contact('dora@example.org', { boss: 'bob@example.org' })
	for (const email of ['carol@example.org', 'dora@example.org']) await track('joined', {}, email)
	for (const row of await select<{ id: string }>('select id from executions')) await advance(row.id)
	const recipients = async () => {
		const rows = await select<{ to: string }>(
			`select output->>'recipientEmail' as "to" from execution_steps where type = 'SEND_EMAIL' order by 1`,
		)
		return rows.map(({ to }) => to)
	}
	t.deepEqual(await recipients(), ['bob@example.org', zebra])
	t.is((await call('DELETE', `/contacts/${id}?erase=true`)).statusCode, 204)
	t.deepEqual(await recipients(), ['bob@example.org', 'deleted@deleted.invalid'])
})
