import test, { type ExecutionContext } from 'ava'
import type { Outcome } from '../outside/providers/provider.ts'
import { resendProvider, type ResendOptions } from '../outside/providers/resend.ts'
import { aMessage } from './helpers/message.ts'
import { resendFake, type ResendFault } from './helpers/resend-fake.ts'

async function setup(
	t: ExecutionContext,
	faults: ResendFault[] = [],
	options: Partial<ResendOptions> = {},
) {
	const fake = await resendFake()
	fake.faults.push(...faults)
	const provider = resendProvider({ apiKey: fake.apiKey, baseUrl: fake.url, ...options })
	t.teardown(async () => {
		await provider.close()
		await fake.close()
	})
	return { fake, provider, deliver: () => provider.deliver(aMessage()) }
}

const unavailable = { kind: 'UNAVAILABLE' } as const
const rejected = { kind: 'REJECTED', bounce: false } as const
const tooMany = { status: 429, name: 'rate_limit_exceeded' }
const hour = 3_600_000

const rows: [name: string, fault: ResendFault, expected: Partial<Outcome>][] = [
	[
		'a rate limit is unavailable for the seconds it says',
		{ ...tooMany, headers: { 'retry-after': '7' } },
		{ ...unavailable, retryAfterMs: 7000 },
	],
	[
		'a rate limit is unavailable for a day at most, however long it says',
		{ ...tooMany, headers: { 'retry-after': '99999999' } },
		{ ...unavailable, retryAfterMs: 24 * hour },
	],
	[
		'a rate limit without Retry-After waits for the next window',
		tooMany,
		{ ...unavailable, retryAfterMs: 1000 },
	],
	[
		'a used-up daily quota is unavailable for an hour at least',
		{ status: 429, name: 'daily_quota_exceeded', headers: { 'retry-after': '1' } },
		{ ...unavailable, retryAfterMs: hour },
	],
	[
		'a used-up monthly quota is unavailable for hours',
		{ status: 429, name: 'monthly_quota_exceeded' },
		{ ...unavailable, retryAfterMs: 6 * hour },
	],
	['an internal error is unavailable', { status: 500, name: 'internal_server_error' }, unavailable],
	['an application error is unavailable', { status: 500, name: 'application_error' }, unavailable],
	['a gateway without words of Resend is unavailable', { status: 502, html: '<h1>' }, unavailable],
	['a missing key is unavailable', { status: 401, name: 'missing_api_key' }, unavailable],
	['a restricted key is unavailable', { status: 401, name: 'restricted_api_key' }, unavailable],
	['an invalid key is unavailable', { status: 403, name: 'invalid_api_key' }, unavailable],
	['a wrong address of the API is unavailable', { status: 404, name: 'not_found' }, unavailable],
	['a validation error rejects', { status: 422, name: 'validation_error' }, rejected],
	['an unverified domain rejects', { status: 403, name: 'validation_error' }, rejected],
	['an invalid sender rejects', { status: 422, name: 'invalid_from_address' }, rejected],
	['an invalid attachment rejects', { status: 422, name: 'invalid_attachment' }, rejected],
	['a missing field rejects', { status: 422, name: 'missing_required_field' }, rejected],
	['a security error rejects', { status: 451, name: 'security_error' }, rejected],
	['a connection lost without an answer is unknown', { drop: true }, { kind: 'UNKNOWN' }],
	[
		'a try while the first is being answered is deferred shortly',
		{ status: 409, name: 'concurrent_idempotent_requests' },
		{ kind: 'DEFERRED', retryAfterMs: 1000 },
	],
]

for (const [name, fault, expected] of rows) {
	test(name, async (t) => {
		const { fake, deliver } = await setup(t, [fault])
		t.like(await deliver(), expected)
		t.is(fake.accepted.length, 0)
	})
}

test('a Retry-After that is a date is waited for', async (t) => {
	const date = new Date(Date.now() + 60_000).toUTCString()
	const { deliver } = await setup(t, [{ ...tooMany, headers: { 'retry-after': date } }])
	const outcome = await deliver()
	const waitMs = 'retryAfterMs' in outcome ? outcome.retryAfterMs! : 0
	t.true(waitMs > 50_000 && waitMs <= 60_000)
})

test('a mail arrives with everything Resend can know of it', async (t) => {
	const { fake, provider } = await setup(t)
	const message = aMessage({
		from: { email: 'hello@example.com', name: 'Ada "Countess" Lovelace, Ltd' },
		to: { email: 'bob@example.org', name: 'Zoë' },
		replyTo: 'reply@example.com',
		projectId: 'pröject 1',
		headers: { 'List-Unsubscribe': '<https://example.com/u>' },
		attachments: [
			{
				filename: 'logo.png',
				content: Buffer.from('PNG'),
				contentType: 'image/png',
				contentId: 'logo',
				disposition: 'inline',
			},
		],
	})
	const outcome = await provider.deliver(message)
	const [{ id, mail, key }] = fake.accepted as [(typeof fake.accepted)[0]]
	t.deepEqual(outcome, { kind: 'SENT', providerMessageId: id })
	t.is(key, message.emailId)
	t.deepEqual(mail, {
		from: '"Ada \\"Countess\\" Lovelace, Ltd" <hello@example.com>',
		to: 'Zoë <bob@example.org>',
		reply_to: 'reply@example.com',
		subject: 'Good day',
		html: '<p>Good day</p>',
		text: 'Good day\n',
		headers: { 'List-Unsubscribe': '<https://example.com/u>', 'X-Tempost-Id': message.emailId },
		tags: [
			{ name: 'email_id', value: message.emailId },
			{ name: 'project_id', value: 'pr_ject_1' },
		],
		attachments: [
			{ filename: 'logo.png', content: 'UE5H', content_type: 'image/png', content_id: 'logo' },
		],
	})
})

test('copies arrive at Resend as cc and bcc', async (t) => {
	const { fake, provider } = await setup(t)
	const cc = [{ email: 'bob@example.org', name: 'Bob' }]
	const bcc = [{ email: 'carl@example.org', name: null }]
	t.like(await provider.deliver(aMessage({ cc, bcc })), { kind: 'SENT' })
	t.like(fake.accepted[0]!.mail, { cc: ['Bob <bob@example.org>'], bcc: ['carl@example.org'] })
})

test('a custom Reply-To header takes the place of the reply address', async (t) => {
	const { fake, provider } = await setup(t)
	await provider.deliver(aMessage({ headers: { 'reply-to': 'Me <me@example.com>' } }))
	t.is(fake.accepted[0]!.mail.reply_to, 'Me <me@example.com>')
	t.false('reply-to' in fake.accepted[0]!.mail.headers!)
})

test('a mail whose subject has rendered as nothing is sent', async (t) => {
	const { fake, provider } = await setup(t)
	t.like(await provider.deliver(aMessage({ subject: '' })), { kind: 'SENT' })
	t.is(fake.accepted[0]!.mail.subject, '(no subject)')
})

test('a Reply-To header of several people reaches Resend as a list', async (t) => {
	const { fake, provider } = await setup(t)
	const headers = { 'Reply-To': 'Me <me@example.com>, "Doe, Zoë" <z@example.com>' }
	t.like(await provider.deliver(aMessage({ headers })), { kind: 'SENT' })
	t.deepEqual(fake.accepted[0]!.mail.reply_to, [
		'Me <me@example.com>',
		'"Doe, Zoë" <z@example.com>',
	])
})

const takenFaults: [string, ResendFault, Outcome['kind']][] = [
	['a connection lost', { drop: true }, 'UNKNOWN'],
	['an answer that never comes', { hang: true }, 'UNKNOWN'],
	['an answer cut to pieces', { status: 200, html: '{"id":' }, 'UNKNOWN'],
	['a 500', { status: 500 }, 'UNAVAILABLE'],
]
for (const [name, fault, kind] of takenFaults) {
	test(`${name} after the mail was taken: repeated with its key, it is sent once`, async (t) => {
		const faults = [{ ...fault, take: true, times: 1 }]
		// Long enough to take the mail on a busy machine, and to answer the repetition.
		const { fake, provider } = await setup(t, faults, { timeoutMs: fault.hang ? 3000 : 10_000 })
		const message = aMessage()
		t.is((await provider.deliver(message)).kind, kind)
		t.is(fake.accepted.length, 1)
		const again = await provider.deliver(message)
		t.deepEqual(again, { kind: 'SENT', providerMessageId: fake.accepted[0]!.id })
		t.is(fake.accepted.length, 1)
	})
}

test('the same key with another mail counts as sent, because an earlier try was taken', async (t) => {
	const { fake, provider } = await setup(t)
	const message = aMessage()
	await provider.deliver(message)
	const outcome = await provider.deliver({ ...message, subject: 'Another' })
	t.deepEqual(outcome, { kind: 'SENT', providerMessageId: null })
	t.is(fake.accepted.length, 1)
})

test('two tries at once send one mail', async (t) => {
	const { fake, provider } = await setup(t)
	// Longer than the pause between two requests, whatever else the machine does.
	fake.delayMs = 3000
	const message = aMessage()
	const outcomes = await Promise.all([provider.deliver(message), provider.deliver(message)])
	t.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['DEFERRED', 'SENT'])
	t.is(fake.accepted.length, 1)
})

test('an API that cannot be reached is unavailable, for nothing has left', async (t) => {
	const { fake, deliver } = await setup(t)
	await fake.close()
	const outcome = await deliver()
	t.like(outcome, unavailable)
	t.regex('error' in outcome ? outcome.error : '', /ECONNREFUSED/)
})

test('a host that does not exist is unavailable, for nothing has left', async (t) => {
	const { deliver } = await setup(t, [], { baseUrl: 'http://nowhere.invalid' })
	t.like(await deliver(), unavailable)
})
