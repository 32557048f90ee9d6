import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { readBounceReport } from '../api/reputation/bounce-report.ts'
import { complaint, dsn } from './helpers/bounce-mails.ts'
import { cpuMeter } from './helpers/cpu.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setup } from './helpers/app.ts'
import { setupReports } from './helpers/reports.ts'
import { longestStall } from './helpers/stall.ts'

const id = randomUUID()
async function read(mail: string) {
	const report = await readBounceReport(Buffer.from(mail))
	return report && { emailId: report.emailId, ...report.outcomes[0] }
}

const statuses: [Parameters<typeof dsn>[1], string, string | null][] = [
	[{}, 'Permanent', '5.1.1 550 5.1.1 <anna@example.org>: User unknown'],
	[{ status: '5.7.1', diagnostic: '' }, 'Permanent', '5.7.1'],
	[{ status: '4.4.7', diagnostic: '' }, 'Transient', '4.4.7'],
	[{ action: 'delayed', status: '4.2.2', diagnostic: '' }, 'Transient', '4.2.2'],
	[{ action: 'FAILED', status: '5.2.2 (mailbox full)', diagnostic: '' }, 'Permanent', '5.2.2'],
	[{ status: '', diagnostic: 'smtp; 550 no' }, 'Permanent', '550 no'],
	[{ status: '', diagnostic: 'smtp; 450 later' }, 'Transient', '450 later'],
	[{ status: '', diagnostic: '' }, 'Undetermined', 'It came back without a reason'],
	[{ status: '9.9.9', diagnostic: 'x-unix; gone' }, 'Undetermined', 'x-unix; gone'],
	[{ action: 'unheard-of' }, 'Undetermined', '5.1.1 550 5.1.1 <anna@example.org>: User unknown'],
]
for (const [fields, bounceType, error] of statuses)
	test(`a report with ${JSON.stringify(fields)} is ${bounceType}`, async (t) => {
		t.deepEqual(await read(dsn({ id }, fields)), {
			emailId: id,
			kind: 'BOUNCED',
			bounceType,
			error,
			recipient: 'anna@example.org',
		})
	})

test('a long reason in any script is cut to the storable length', async (t) => {
	const report = dsn({ id }, { status: '', diagnostic: `smtp; ${'x'.repeat(999)}😀` })
	t.is((await read(report))!.error, `${'x'.repeat(999)}\ufffd`)
})

test('a report may also confirm delivery', async (t) => {
	t.like(await read(dsn({ id }, { action: 'delivered', status: '2.0.0' })), { kind: 'DELIVERED' })
	t.like(await read(dsn({ id }, { action: 'relayed', status: '2.0.0' })), { kind: 'SENT' })
})

test('our mail is known by its id or its Message-ID, however it was returned', async (t) => {
	const found = { emailId: id, bounceType: 'Permanent' }
	for (const returned of ['text/rfc822-headers', 'message/rfc822', 'message/global-headers'])
		t.like(await read(dsn({ id }, {}, { returned })), found, returned)
	t.like(await read(dsn({ id }, {}, { type: 'message/global-delivery-status' })), found)
	t.like(await read(dsn({ id, headers: `message-id:\n <${id}@example.com>` }, {})), found)
	t.like(await read(dsn({ id, headers: `X-TEMPOST-ID: ${id.toUpperCase()}` }, {})), found)
	const none = [
		'Subject: nothing',
		'Message-ID: <other@example.com>',
		`Subject: X-Tempost-Id: ${id}`,
		`X-Tempost-Id: ${id} ${id}`,
		`X-Tempost-Id: ${'a'.repeat(36)}`,
		`Subject: x\n\nX-Tempost-Id: ${id}`,
	]
	for (const headers of none) t.is(await read(dsn({ id, headers }, {})), null, headers)
})

test('of several recipients that ours stood for, the worst counts', async (t) => {
	const recipients = '\n\nFinal-Recipient: rfc822; b@example.org\nAction: failed\nStatus: 5.1.1'
	const report = dsn({ id }, { action: 'delivered', status: '2.0.0' }, { recipients })
	t.like(await read(report), { bounceType: 'Permanent' })
})

test('only feedback reports about unwanted mail count as complaints', async (t) => {
	for (const type of ['abuse', 'Fraud', 'other'])
		t.like(await read(complaint({ id }, type)), { emailId: id, kind: 'COMPLAINED' }, type)
	for (const type of ['not-spam', 'auth-failure', ''])
		t.is(await read(complaint({ id }, type)), null, type)
})

test('a mail that is not a report is recognised quickly, with any content', async (t) => {
	const nested = (depth: number) =>
		Array.from(
			{ length: depth },
			(_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
		)
	const mails = [
		'',
		'\0',
		'Subject: hello\r\n\r\nX-Tempost-Id: x',
		dsn({ id }, {}).slice(0, 700),
		dsn({ id }, {}).replaceAll('edge', ''),
		nested(5000).join(''),
		`X: ${'y'.repeat(9_000_000)}`,
		`Content-Type: multipart/report; boundary=${'b'.repeat(100_000)}\r\n\r\n--b`,
		`${'Subject: x\r\n\t'.repeat(400_000)}`,
		Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256)).toString('latin1'),
	]
	for (const [index, mail] of mails.entries()) {
		const spentMs = cpuMeter()
		t.is(await read(mail), null, `mail ${index}`)
		t.true(spentMs() < 3000, `mail ${index}: ${spentMs()} ms`)
	}
	// The returned part of a large mail doesn't matter.
	const large = dsn({ id }, {}, { returned: 'message/rfc822' })
	t.like(await read(large.replace('The text of the mail', 'x'.repeat(5_000_000))), { emailId: id })
})

const setupBounces = async (t: ExecutionContext) => {
	const all = await setupReports(t)
	const { app, withSecretKey } = all
	return {
		...all,
		comesBack: (payload: string | Buffer, headers: object = withSecretKey) =>
			app.inject({
				method: 'POST',
				url: '/webhooks/bounce',
				headers: { 'content-type': 'message/rfc822', ...headers },
				payload,
			}),
	}
}

test('a bounce that came by mail has the consequences of any other, once', async (t) => {
	const { handedOver, comesBack, mail, contact, execute, eventsOf } = await setupBounces(t)
	const sent = await handedOver('UNCERTAIN')
	for (let times = 0; times < 2; times++) {
		const answer = await comesBack(dsn(sent, {}))
		t.is(answer.statusCode, 200)
		t.deepEqual(answer.json(), {
			matched: [{ emailId: sent.id, event: 'bounce', bounceType: 'Permanent' }],
		})
	}
	t.like(await mail(sent), { status: 'BOUNCED' })
	t.false((await contact('anna@example.org')).subscribed)
	t.is((await execute('select 1 from suppressions')).length, 1)
	t.deepEqual(await eventsOf(sent), ['email.sent', 'email.bounce'])
	const complained = await comesBack(complaint(sent))
	t.deepEqual(complained.json(), {
		matched: [{ emailId: sent.id, event: 'complaint', bounceType: null }],
	})
	t.like(await mail(sent), { status: 'COMPLAINED' })
})

test('a transient bounce that is reported twice is recorded once', async (t) => {
	const { handedOver, comesBack, mail, execute, eventsOf } = await setupBounces(t)
	const sent = await handedOver()
	for (let times = 0; times < 2; times++)
		await comesBack(dsn(sent, { action: 'delayed', status: '4.2.2' }))
	t.like(await mail(sent), { status: 'SENT' })
	t.deepEqual(await eventsOf(sent), ['email.bounce'])
	t.deepEqual(await execute('select 1 from suppressions'), [])
})

test('a project that was suspended still learns of bounces', async (t) => {
	const { handedOver, comesBack, mail, execute } = await setupBounces(t)
	const sent = await handedOver()
	await execute(`update projects set disabled_reason = 'EMAIL_REPUTATION'`)
	t.is((await comesBack(dsn(sent, {}))).statusCode, 200)
	t.like(await mail(sent), { status: 'BOUNCED' })
	t.is((await execute('select 1 from suppressions')).length, 1)
})

test("another project's mail, an unknown one, and one that was never sent match nothing", async (t) => {
	const { handedOver, comesBack, mail, sent, newProject, execute } = await setupBounces(t)
	const theirs = await handedOver()
	const other = await newProject()
	const answers = [
		await comesBack(dsn(theirs, {}), other.withSecretKey),
		await comesBack(dsn({ id: randomUUID() }, {})),
		await comesBack(dsn({ id: (await sent({ to: 'b@example.org' })).id }, {})),
		await comesBack('no report'),
		await comesBack(''),
	]
	for (const answer of answers) {
		t.is(answer.statusCode, 200)
		t.deepEqual(answer.json(), { matched: [] })
	}
	t.like(await mail(theirs), { status: 'SENT' })
	t.deepEqual(await execute('select 1 from suppressions'), [])
})

test('the route wants the secret key, a mail, and 10 MB at most', async (t) => {
	const { comesBack, withPublicKey, withSecretKey } = await setupBounces(t)
	isEnvelope(t, await comesBack('x', withPublicKey), 401, 'INVALID_API_KEY')
	isEnvelope(t, await comesBack('x', {}), 401, 'INVALID_API_KEY')
	isEnvelope(t, await comesBack(Buffer.alloc(10 * 2 ** 20 + 1)), 413, 'BAD_REQUEST')
	t.is((await comesBack(Buffer.alloc(10 * 2 ** 20))).statusCode, 200)
	const text = { ...withSecretKey, 'content-type': 'text/plain' }
	isEnvelope(t, await comesBack('x', text), 415, 'BAD_REQUEST')
	const json = { ...withSecretKey, 'content-type': 'application/json' }
	isEnvelope(t, await comesBack('{"mail":"x"}', json), 415, 'BAD_REQUEST')
})

test.serial('a mail of any form delays no other request', async (t) => {
	t.timeout(180_000)
	const { app, withSecretKey } = await setup(t)
	const edge = 'Content-Type: multipart/report; boundary=b\n\n'
	const mails = {
		boundaries: edge + '--b\n'.repeat(200_000),
		'parts that open parts': (edge + '--b\n').repeat(20_000),
		headers: 'X: y\n'.repeat(200_000),
		'one folded header': `X: y\n${' z\n'.repeat(300_000)}`,
		'encoded words': `Subject: ${'=?utf-8?Q?=C3?= '.repeat(60_000)}\n\n`,
		addresses: `To: ${'<'.repeat(500_000)}\n\n`,
		parameters: `Content-Type: multipart/report; ${'a*0=b; '.repeat(140_000)}\n\n`,
	}
	const headers = { ...withSecretKey, 'content-type': 'message/rfc822' }
	const post = (payload: string) =>
		app.inject({ method: 'POST', url: '/webhooks/bounce', headers, payload })
	t.is((await post('Subject: none\n\n')).statusCode, 200)
	for (const [name, mail] of Object.entries(mails)) {
		const stall = await longestStall(async () => {
			t.deepEqual((await post(mail)).json(), { matched: [] })
		})
		t.true(stall <= 50, `${name}: ${stall} ms`)
	}
})
