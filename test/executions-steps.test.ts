import test from 'ava'
import PostalMime from 'postal-mime'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import type { Message } from '../mail/message.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { mailsOfClaim } from '../db/emails/ledger.ts'
import { blocksReadBy } from './helpers/blocks-read.ts'
import {
	delayStep,
	mailStep,
	setupExecutions,
	type StepSketch,
	waitStep,
} from './helpers/executions.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'

const update = (data: object, subscribed: boolean | null = null): StepSketch => [
	'UPDATE_CONTACT',
	{ data, subscribed },
	'Update',
]

test('an unsubscribed contact gets a FAILED row with the reason, and the execution continues', async (t) => {
	const { freeze, contact, track, executionId, advance, mails, visits } = await setupExecutions(t)
	await contact('ann@example.org', {}, false)
	await freeze({ on: 'x', steps: [mailStep] })
	await track('x')
	t.like(await advance(await executionId()), { do: 'END', about: 'COMPLETED' })
	t.like((await mails())[0], { status: 'FAILED', error: 'The contact is not subscribed' })
	t.deepEqual(await visits(), ['TRIGGER COMPLETED', 'SEND_EMAIL FAILED'])
})

for (const [type, expected] of [
	['MARKETING', /Shop Ltd<br>London/],
	['TRANSACTIONAL', /^(?!.*Shop Ltd)/s],
] as const)
	test(`${type} mail of a workflow shows the postal address as its type asks`, async (t) => {
		const { freeze, contact, track, executionId, advance, pool, select, template } =
			await setupExecutions(t)
		await select(`update projects set postal_address = 'Shop Ltd' || chr(10) || 'London'`)
		await contact('ann@example.org', {}, true)
		await freeze({ on: 'x', steps: [mailStep] }, await template({ type }))
		await track('x')
		await advance(await executionId())
		await select(`update projects set postal_address = 'Elsewhere'`)
		const handed: Message[] = []
		const { provider } = scriptedProvider((message) => void handed.push(message))
		const { services } = deliveryServices(pool, provider, {})
		const [run] = await claim(pool)
		await deliverMails(services, () =>
			mailsOfClaim(pool, { claimId: claimOf(run), provider: 'local' }),
		)
		t.regex(handed[0]!.html, expected)
	})

for (const [type, status] of [
	['HEADLESS', 'FAILED'],
	['TRANSACTIONAL', 'PENDING'],
] as const)
	test(`${type} mail to an unsubscribed contact is ${status}`, async (t) => {
		const { freeze, contact, track, executionId, advance, mails, template } =
			await setupExecutions(t)
		await contact('ann@example.org', {}, false)
		await freeze({ on: 'x', steps: [mailStep] }, await template({ type }))
		await track('x')
		await advance(await executionId())
		t.is((await mails())[0]!.status, status)
	})

test('a mail to another person needs that person’s consent, and has no links of the contact', async (t) => {
	const { freeze, contact, track, executionId, advance, select, template } =
		await setupExecutions(t)
	await contact('ann@example.org', { seller: 'Bob@Example.org' })
	const bob = await contact('bob@example.org', {}, true)
	const body = '{{ email }} {{ unsubscribeUrl }}'
	const custom = (customEmail: string): StepSketch => [
		'SEND_EMAIL',
		{ recipient: { type: 'CUSTOM', customEmail } },
		'Tell',
	]
	await freeze(
		{ on: 'x', steps: [custom('{{ seller }}'), custom('sales@shop.test'), custom('{{ nobody }}')] },
		await template({ body }),
	)
	await track('x')
	t.like(await advance(await executionId()), { do: 'END', about: 'COMPLETED' })
	const [seller, stranger, nobody] = await select<{
		to: string
		contact_id: string | null
		body: string
		status: string
		error: string | null
	}>('select * from emails order by id')
	t.like(seller, { to: 'bob@example.org', contact_id: bob, status: 'PENDING' })
	t.true(seller!.body.startsWith(`ann@example.org https://mail.example.com/unsubscribe/${bob}`))
	t.like(stranger, { to: 'sales@shop.test', contact_id: null, status: 'PENDING' })
	t.is(stranger!.body.trim(), 'ann@example.org')
	t.like(nobody, { to: '', status: 'FAILED' })
})

test('a step whose address is a template is stored as written, and mails the rendered address', async (t) => {
	const { call, contact, track, executionId, advance, mails, templateId } = await setupExecutions(t)
	await contact('ann@example.org', { Seller: 'Bob' })
	const { id } = (await call('POST', '/workflows', { name: 'Sale', eventName: 'sale' })).json()
	const customEmail = '{{ Seller }}@Shop.test'
	const step = await call('POST', `/workflows/${id}/steps`, {
		type: 'SEND_EMAIL',
		name: 'Tell',
		config: { templateId, recipient: { type: 'CUSTOM', customEmail } },
	})
	t.is(step.statusCode, 201, step.body)
	t.is(step.json().config.recipient.customEmail, customEmail)
	t.is((await call('PATCH', `/workflows/${id}`, { enabled: true })).statusCode, 200)
	await track('sale')
	await advance(await executionId())
	t.like((await mails())[0], { to: 'bob@shop.test', status: 'PENDING', error: null })
})

test('if a template renders an invalid address, the mail fails and the execution continues', async (t) => {
	const { freeze, contact, track, executionId, advance, mails } = await setupExecutions(t)
	const long = `${'x'.repeat(253)}😀@example.org`
	// Cut to the shown length, it would be a valid address.
	const cut = `ann@${[1, 2, 3, 4].map(() => 'z'.repeat(61)).join('.')}.ab`
	const tooLong = `${cut}c`
	await contact('ann@example.org', { long, tooLong })
	const custom = (customEmail: string): StepSketch => [
		'SEND_EMAIL',
		{ recipient: { type: 'CUSTOM', customEmail } },
		'Tell',
	]
	const templates = ['{{ long }}', '{{ tooLong }}', '{{ "%00" | url_decode }}a@a.org']
	await freeze({ on: 'x', steps: templates.map(custom) })
	await track('x')
	t.like(await advance(await executionId()), { do: 'END', about: 'COMPLETED' })
	t.deepEqual(
		(await mails()).map(({ to, status }) => [to, status]),
		[
			[`${'x'.repeat(253)}\ufffd`, 'FAILED'],
			[cut, 'FAILED'],
			['a@a.org', 'FAILED'],
		],
	)
})

for (const [what, name, shown] of [
	['of several lines', 'Ann\r\nBcc: eve@example.org\n\tOf Tea', 'Ann Bcc: eve@example.org Of Tea'],
	['longer than any', 'ü'.repeat(10_000), 'ü'.repeat(255)],
	['of nothing but breaks', '\n\r\n', ''],
] as const)
	test(`a step’s mail to a contact with a name ${what} arrives, with the name on one line`, async (t) => {
		const { freeze, track, executionId, advance, pool, select } = await setupExecutions(t)
		await freeze({ on: 'x', steps: [mailStep] })
		t.is((await track('x', { name })).statusCode, 200)
		t.like(await advance(await executionId()), { do: 'END', about: 'COMPLETED' })
		const messages: Message[] = []
		const { provider } = scriptedProvider((message) => void messages.push(message))
		const { services } = deliveryServices(pool, provider, {})
		for (const row of await claim(pool))
			await deliverMails(services, () =>
				mailsOfClaim(pool, { claimId: claimOf(row), provider: 'local' }),
			)
		t.deepEqual(await select('select status, error from emails'), [{ status: 'SENT', error: null }])
		// As given to providers, and as sent over the wire.
		t.is(messages[0]!.to.name ?? '', shown)
		const { to, bcc } = await PostalMime.parse(buildMime(messages[0]!))
		t.deepEqual(to, [{ address: 'ann@example.org', name: shown }])
		t.is(bcc, undefined)
	})

test('a mail from a domain that is not verified fails, and says so', async (t) => {
	const { freeze, contact, track, executionId, advance, mails, select } = await setupExecutions(t)
	await contact()
	await select('update domains set verified_at = null')
	await freeze({ on: 'x', steps: [mailStep] })
	await track('x')
	await advance(await executionId())
	t.like((await mails())[0], {
		status: 'FAILED',
		error: 'The domain of shop@example.com is not verified',
	})
})

test('an update is rendered, follows the data rules, and changes the subscription once', async (t) => {
	const { freeze, contact, track, executionId, advance, select, mails } = await setupExecutions(t)
	await contact('ann@example.org', { name: 'Ann', old: 1 })
	await freeze({
		on: 'x',
		steps: [
			update({ bought: '{{ event.product }} & more', count: 3, old: null, email: 'no' }, false),
			update({}, false),
			mailStep,
		],
	})
	await track('x', { product: '<Tea>' })
	t.like(await advance(await executionId()), { do: 'END', about: 'COMPLETED' })
	const [person] = await select<{ data: object; subscribed: boolean; email: string }>(
		'select data, subscribed, email from contacts',
	)
	t.deepEqual(person, {
		data: { name: 'Ann', bought: '<Tea> & more', count: 3, product: '<Tea>' },
		subscribed: false,
		email: 'ann@example.org',
	})
	const flips = await select(`select from events where name = 'contact.unsubscribed'`)
	t.is(flips.length, 1)
	t.is((await mails())[0]!.error, 'The contact is not subscribed')
})

test('simultaneous updates and events of one contact do not deadlock', async (t) => {
	const { freeze, contact, track, call, executionId, advance, pool, select } =
		await setupExecutions(t)
	const contactId = await contact()
	await freeze({ on: 'x', steps: [update({ plan: 'pro' })], reentry: true })
	await track('x')
	const id = await executionId()
	const other = await pool.connect()
	t.teardown(() => other.release())
	await other.query('begin; select from executions for update')
	const advancing = advance(id) // holds the contact, waits for the execution
	await lockWaits(t, pool, 1)
	const tracking = call('POST', '/events/track', { name: 'x', contactId }) // waits for the contact
	await lockWaits(t, pool, 2)
	await other.query('commit')
	t.like(await advancing, { do: 'END', about: 'COMPLETED' })
	t.is((await tracking).statusCode, 201)
	t.deepEqual(await select('select data from contacts'), [{ data: { plan: 'pro' } }])
})

test('an update that would be too large fails the execution, and changes nothing', async (t) => {
	const { freeze, contact, track, executionId, advance, executions, select } =
		await setupExecutions(t)
	await contact('ann@example.org', { big: 'x'.repeat(40_000) })
	await freeze({ on: 'x', steps: [update({ other: 'y'.repeat(40_000) }), mailStep] })
	await track('x')
	const stop = await advance(await executionId())
	t.like(stop, { do: 'END', about: 'FAILED' })
	t.regex((await executions())[0]!.error!, /^InvalidData: .*64 KB/)
	t.is((await select(`select from contacts where data ? 'other'`)).length, 0)
})

test('a condition tree is asked of the database, with segments and events in it', async (t) => {
	const { freeze, contact, track, executions, advance, mails } = await setupExecutions(t)
	const tree = {
		logic: 'AND',
		groups: [
			{
				filters: [
					{ field: 'event.looked', operator: 'triggered' },
					{ field: 'data.plan', operator: 'equals', value: 'pro' },
				],
			},
		],
	}
	await freeze({
		on: 'x',
		steps: [['CONDITION', tree], mailStep],
		ways: [
			[0, 1],
			[1, 2, 'yes'],
		],
	})
	await contact('ann@example.org', { plan: 'pro' })
	await contact('bob@example.org', { plan: 'pro' })
	await track('looked')
	for (const name of ['ann', 'bob']) await track('x', {}, `${name}@example.org`)
	for (const { id } of await executions()) await advance(id)
	t.deepEqual(
		(await mails()).map(({ to }) => to),
		['ann@example.org'],
	)
})

test('a condition that names a segment which was deleted is not answered: the execution fails', async (t) => {
	const { freeze, contact, track, executionId, advance, executions, mails, call, select } =
		await setupExecutions(t)
	const { id: segmentId } = (
		await call('POST', '/segments', { name: 'VIP', type: 'STATIC' })
	).json()
	const emails = ['ann@example.org']
	await contact(emails[0])
	await call('POST', `/segments/${segmentId}/members`, { emails })
	const filters = [{ field: `segment.${segmentId}`, operator: 'notMemberOfSegment' }]
	const id = await freeze({
		on: 'x',
		steps: [['CONDITION', { logic: 'AND', groups: [{ filters }] }], mailStep],
		ways: [
			[0, 1],
			[1, 2, 'yes'],
		],
	})
	await track('x')
	const execution = await executionId()
	await select(`update executions set status = 'FAILED', due_at = null`)
	t.is((await call('DELETE', `/segments/${segmentId}`)).statusCode, 204)
	t.is((await call('POST', `/workflows/${id}/executions/${execution}/retry`)).statusCode, 200)
	t.like(await advance(execution), { do: 'END', about: 'FAILED' })
	t.is((await executions())[0]!.error, 'The condition uses a segment that was deleted')
	t.deepEqual(await mails(), [])
})

test('outputs of earlier steps and the names of things are variables', async (t) => {
	const { freeze, contact, track, executionId, advance, mails, template } = await setupExecutions(t)
	await contact()
	const subject =
		'{{ workflow.name }} {{ event.product }} {{ steps.Sleep.resumeAt | slice: 0, 2 }} {{ execution.id }}'
	await freeze({ on: 'x', steps: [delayStep(1), mailStep] }, await template({ subject }))
	await track('x', { product: 'Tea' })
	const id = await executionId()
	await advance(id)
	await advance(id, 2)
	t.is((await mails())[0]!.subject, `Welcome Tea 20 ${id}`)
})

test('a workflow of many steps without a pause runs to its end', async (t) => {
	const { freeze, contact, track, executionId, advance } = await setupExecutions(t)
	await contact()
	const steps = Array.from({ length: 150 }, (_, n) => update({ step: n }))
	await freeze({ on: 'x', steps })
	await track('x')
	const id = await executionId()
	let move = await advance(id)
	// A slow machine needs several transactions.
	while (move?.do === 'SLEEP') move = await advance(id)
	t.like(move, { do: 'END', about: 'COMPLETED' })
})

test('a move of an execution reads the same, however often it has been at a step', async (t) => {
	const { freeze, contact, track, executionId, advance, pool, project, select } =
		await setupExecutions(t)
	await contact()
	await freeze({ on: 'x', steps: [update({ n: 1 }), waitStep('paid', 60), mailStep] })
	await track('x')
	const id = await executionId()
	t.like(await advance(id), { do: 'WAIT', visit: 3 })
	const blocks = async () => {
		await pool.query('vacuum analyze execution_steps')
		const db = await pool.connect()
		try {
			await db.query('begin')
			const steps = await select<{ id: string }>(
				'select distinct step_id as id from execution_steps',
			)
			const counts: number[] = []
			for (const [name, values] of [
				['outputs-of-execution', [project.id, id, steps.map((step) => step.id), 2 ** 21]],
				['event-since', [project.id, id, 'paid', new Date(0), []]],
			] as const) {
				counts.push(await blocksReadBy(db, name, values))
			}
			return counts
		} finally {
			await db.query('rollback')
			db.release()
		}
	}
	await track('paid')
	await blocks()
	const before = await blocks()
	await pool.query(
		`insert into execution_steps (project_id, execution_id, visit, step_id, type, status, output, event_id)
		select project_id, execution_id, visit + 2 * n, step_id, type, 'COMPLETED', '{}',
			case when type = 'WAIT_FOR_EVENT' then uuidv7() end
		from execution_steps, generate_series(1, 10000) n where visit > 1`,
	)
	const after = await blocks()
	for (const [place, count] of before.entries())
		t.true(after[place]! < count + 20, `${before.join()} ${after.join()}`)
})
