import test, { type ExecutionContext } from 'ava'
import { openAutomations } from './helpers/automations.ts'
import { mailStep, setupExecutions, type StepSketch } from './helpers/executions.ts'

/** Executions moved by hand, and mails as if a provider had accepted them. */
async function setupCircles(t: ExecutionContext) {
	const context = await setupExecutions(t)
	const { pool, select, advance, sendMails } = context
	/** Moves every execution to its end. Returns their automations, oldest first. */
	const run = async () => {
		const names: string[] = []
		for (;;) {
			const active = await select<{ id: string; name: string }>(
				`select x.id, a.name from executions x join automations a on a.id = x.automation_id
				where x.status = 'RUNNING' order by x.id`,
			)
			for (const { id } of active) await advance(id)
			names.push(...active.map(({ name }) => name))
			const happened = await happen('email.sent')
			if (active.length === 0 && happened === 0) return names
			if (names.length > 20) return [...names, 'and so on']
		}
	}
	/** The event when a mail is sent or opened: once per mail. */
	const happen = async (name: string) => {
		if (name === 'email.sent') return (await sendMails()).length
		const { rowCount } = await pool.query(
			`insert into events (project_id, name, contact_id, email_id)
			select project_id, $1, contact_id, id from emails m
			where not exists (select from events e where e.email_id = m.id and e.name = $1)
			order by m.id`,
			[name],
		)
		return rowCount
	}
	return { ...context, run, happen }
}

const flip = (subscribed: boolean): StepSketch => ['UPDATE_CONTACT', { data: {}, subscribed }]

test('a workflow is not started by the mails that it sends', async (t) => {
	const { freeze, contact, track, run, happen } = await setupCircles(t)
	await contact()
	await freeze({ name: 'A', on: 'bought', reentry: true, steps: [mailStep] })
	await freeze({ name: 'B', on: 'email.sent', reentry: true, steps: [mailStep] })
	await freeze({ name: 'C', on: 'email.opened', reentry: true, steps: [mailStep] })
	await track('bought')
	t.deepEqual(await run(), ['A', 'B'])
	await happen('email.opened')
	t.deepEqual(await run(), ['C', 'B'])
	// The mails of C, and of the B that it started, were not opened before.
	await happen('email.opened')
	t.deepEqual(await run(), [])
})

test('workflows that start each other by their mails end after one round', async (t) => {
	const { freeze, contact, call, run } = await setupCircles(t)
	const contactId = await contact()
	const first = await freeze({ name: 'A', on: 'email.sent', reentry: true, steps: [mailStep] })
	await freeze({ name: 'B', on: 'email.sent', reentry: true, steps: [mailStep] })
	await freeze({ name: 'C', on: 'email.sent', reentry: true, steps: [mailStep] })
	await call('POST', `/workflows/${first}/executions`, { contactId })
	// A starts B and C. Each of them starts the other, and none starts A.
	t.deepEqual((await run()).toSorted(), ['A', 'B', 'B', 'C', 'C'])
})

test('workflows that flip a contact back and forth end after one round', async (t) => {
	const { freeze, contact, call, run } = await setupCircles(t)
	const contactId = await contact()
	await freeze({ name: 'In', on: 'contact.unsubscribed', reentry: true, steps: [flip(true)] })
	await freeze({ name: 'Out', on: 'contact.subscribed', reentry: true, steps: [flip(false)] })
	await call('PATCH', `/contacts/${contactId}`, { subscribed: false })
	t.deepEqual(await run(), ['In', 'Out'])
	// An action from outside starts another round.
	await call('PATCH', `/contacts/${contactId}`, { subscribed: true })
	t.deepEqual(await run(), ['Out', 'In'])
})

test('the mail of a request starts a workflow each time, even after the workflow’s own mails', async (t) => {
	const { freeze, contact, call, run } = await setupCircles(t)
	await contact()
	await freeze({ name: 'A', on: 'email.sent', reentry: true, steps: [mailStep] })
	const mail = { to: 'ann@example.org', from: 'us@example.com', subject: 'Hello', body: 'Hello' }
	for (let round = 1; round <= 2; round++) {
		t.is((await call('POST', '/v1/send', mail)).statusCode, 200)
		t.deepEqual(await run(), ['A'])
	}
})

test('a workflow that causes what it starts with is enabled with a warning', async (t) => {
	const { create, template } = await openAutomations(t)
	const warned = async (eventName: string, type: string, config: object) => {
		const automation = await create({ eventName })
		await automation.step(type, config, type === 'SEND_EMAIL' ? { templateId: template.id } : {})
		const { warnings } = (await automation.enable()).json()
		const { steps } = await automation.get()
		if (warnings.length > 0) t.is(warnings[0].stepId, steps[0].id)
		return warnings.map(({ message }: { message: string }) => message.includes(`"${eventName}"`))
	}
	t.deepEqual(await warned('email.sent', 'SEND_EMAIL', {}), [true])
	t.deepEqual(await warned('email.clicked', 'SEND_EMAIL', {}), [true])
	t.deepEqual(await warned('contact.subscribed', 'UPDATE_CONTACT', { subscribed: true }), [true])
	t.deepEqual(await warned('contact.subscribed', 'UPDATE_CONTACT', { subscribed: false }), [])
	t.deepEqual(await warned('email.received', 'SEND_EMAIL', {}), [])
	t.deepEqual(await warned('email.sent', 'EXIT', {}), [])
	t.deepEqual(await warned('bought', 'SEND_EMAIL', {}), [])
})
