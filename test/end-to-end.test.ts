import { Client, Connection } from '@temporalio/client'
import test from 'ava'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { Template } from '../db/templates/template.ts'
import { resendFake } from './helpers/resend-fake.ts'

// Real processes, as in a deployment. SMTP is in faults.drill.ts, with kills on top.

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}

test('a templated mail with a file goes from the request to the mailbox', async (t) => {
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const em = stack.orm.em.fork()
	const template = em.create(Template, {
		projectId: stack.projectId,
		name: 'Welcome',
		subject: 'Welcome, {{ name }}',
		body: '<p>Your plan is {{ plan ?? "free" }}.</p>',
		from: 'hello@example.com',
		fromName: 'Greeter',
		type: 'TRANSACTIONAL',
	})
	await em.flush()
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const answer = await http.post('/v1/send', {
		to: [{ email: 'Ann@Example.org', name: 'Änn' }, 'bob@example.org'],
		template: template.id,
		data: { plan: 'pro' },
		attachments: [
			{ filename: 'terms.txt', contentType: 'text/plain', content: btoa('All of them') },
		],
	})
	t.is(answer.status, 200, answer.body)

	const inbox = async () => {
		const { messages } = await get(`${stack.apiUrl}/mailbox/messages`)
		return messages
	}
	t.true(await until(async () => (await inbox()).length === 2, 15_000))
	const [second, first] = await inbox()
	t.like(first, {
		to: 'ann@example.org',
		subject: 'Welcome, Änn',
		attachments: [{ filename: 'terms.txt', contentType: 'text/plain', size: 11 }],
	})
	t.regex(first.html, /Your plan is pro\./)
	t.regex(first.text, /Your plan is pro\./)
	t.is(first.headers['From'], 'Greeter <hello@example.com>')
	t.is(first.headers['X-Tempost-Id'], first.emailId)
	t.like(second, { to: 'bob@example.org', subject: 'Welcome,' })
})

test('an operator finds the run of a send by its project, and reads what it did', async (t) => {
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	await http.post('/v1/send', {
		to: ['ann@example.org', 'bob@example.org'],
		from: 'hello@example.com',
		subject: 'Hello',
		body: '<p>Hello</p>',
	})
	const connection = await Connection.connect({ address: servers.temporalAddress })
	t.teardown(() => connection.close())
	const temporal = new Client({ connection, namespace: stack.namespace })
	const query = `ProjectId = '${stack.projectId}' and ExecutionStatus = 'Completed'`
	const runs = async () => (await temporal.workflow.count(query)).count
	t.true(await until(async () => (await runs()) === 1, 15_000))
	for await (const { workflowId, type } of temporal.workflow.list({ query })) {
		t.is(type, 'send')
		const handle = temporal.workflow.getHandle(workflowId)
		t.is(await handle.result(), '2 mails are settled')
		const description = await handle.describe()
		t.is(await description.staticSummary(), '1 request, 2 mails')
		t.like(description.raw.workflowExecutionInfo!.priority, {
			priorityKey: 1,
			fairnessKey: stack.projectId,
		})
	}
})

test('Resend gets the mail once, with our id as its idempotency key', async (t) => {
	const resend = await resendFake()
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'resend',
		RESEND_API_KEY: resend.apiKey,
		RESEND_BASE_URL: resend.url,
	})
	t.teardown(async () => {
		await stack.stop()
		await resend.close()
	})
	await Promise.all([stack.api.start(), stack.worker.start()])
	resend.faults.push(
		{ times: 1, status: 500, take: true },
		{ times: 1, status: 429, headers: { 'retry-after': '1' } },
	)
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const mail = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' }
	const answer = await http.post('/v1/send', { to: 'ann@example.org', ...mail })
	const id = JSON.parse(answer.body).data.emails[0].email
	const view = () => get(`${stack.apiUrl}/emails/${id}`, stack.secretKey)
	t.true(await until(async () => (await view()).status === 'SENT', 20_000))
	t.deepEqual(
		resend.accepted.map(({ key, emailId }) => ({ key, emailId })),
		[{ key: id, emailId: id }],
	)
	t.deepEqual(
		(await view()).attempts.map((attempt: { outcome: string }) => attempt.outcome),
		['UNKNOWN', 'UNAVAILABLE', 'SENT'],
	)
})

const get = async (url: string, key = '') => {
	const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
	return JSON.parse(await answer.text())
}
