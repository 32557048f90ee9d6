import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { resendFake } from './helpers/resend-fake.ts'
import { bounce, postResendEvent, webhookSecret } from './helpers/resend-webhooks.ts'

// Real processes, and a fake of Resend that accepts mail and posts events about it.

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}

test('bounces suspend a project, its members are notified, and an operator enables it again', async (t) => {
	const resend = await resendFake()
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'resend',
		RESEND_API_KEY: resend.apiKey,
		RESEND_BASE_URL: resend.url,
		RESEND_WEBHOOK_SECRET: webhookSecret,
		PLATFORM_FROM: 'noreply@tempost.example',
	})
	t.teardown(async () => {
		await stack.stop()
		await resend.close()
	})
	await Promise.all([stack.api.start(), stack.worker.start()])
	const execute = <T>(sql: string) => stack.orm.em.fork().execute<T[]>(sql)
	await execute(`insert into users (email) values ('owner@example.com')`)
	await execute(
		`insert into memberships (project_id, user_id, role) select '${stack.projectId}', id, 'OWNER' from users`,
	)
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const recipients = Array.from({ length: 26 }, (_, index) => `a${index}@example.org`)
	const mail = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' }
	t.is((await http.post('/v1/send', { to: recipients, ...mail })).status, 200)
	t.true(await until(async () => resend.accepted.length === 26, 30_000))

	for (const accepted of resend.accepted.slice(0, 25)) {
		const posted = await postResendEvent(stack.apiUrl, 'bounced', accepted, bounce('Permanent'))
		t.is(posted.status, 200, await posted.text())
	}
	const refused = await http.post('/v1/send', { to: 'b@example.org', ...mail })
	t.is(JSON.parse(refused.body).error.code, 'PROJECT_DISABLED')
	t.true(await until(async () => resend.accepted.length === 27, 20_000))
	t.like(resend.accepted.at(-1)!.mail, {
		to: 'owner@example.com',
		from: 'Tempost <noreply@tempost.example>',
	})
	t.regex(resend.accepted.at(-1)!.mail.subject!, /suspended/)

	const operator = (...words: string[]) =>
		promisify(execFile)(process.execPath, ['--import=tsx', 'db/operator.ts', ...words], {
			env: { ...process.env, DATABASE_URL: String(stack.orm.config.get('clientUrl')) },
		})
	const unknown = '00000000-0000-4000-8000-000000000000'
	await t.throwsAsync(operator(), { code: 2 })
	await t.throwsAsync(operator('enable', 'x'), { code: 2 })
	await t.throwsAsync(operator('enable', unknown), { code: 1 })
	t.regex((await operator('enable', stack.projectId)).stdout, /is enabled again/)
	t.regex((await operator('enable', stack.projectId)).stdout, /is not disabled/)
	// Bounces from before the suspension was lifted no longer count at the next bounce.
	await postResendEvent(stack.apiUrl, 'bounced', resend.accepted[25]!, bounce('Permanent'))
	t.is((await http.post('/v1/send', { to: 'b@example.org', ...mail })).status, 200)
	t.true(await until(async () => resend.accepted.length === 28, 20_000))
	const suspensions = await execute<{ lifted: boolean }>(
		'select lifted_at is not null as lifted from suspensions',
	)
	t.deepEqual(suspensions, [{ lifted: true }])
})
