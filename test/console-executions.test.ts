import test from 'ava'
import { barriersOf } from './helpers/console.ts'
import { addContactsAlike } from './helpers/contacts-alike.ts'
import { setupWorkflows } from './helpers/console-workflows.ts'

test('the path of a person is drawn on the version that they run, with times and the mail', async (t) => {
	const { page, open, call, enter, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf, enable } = await firstOrder()
	await enable()
	await enter(id, 'ann@example.com')
	await call('PATCH', `/workflows/${id}/steps/${idOf('Order')}`, { name: 'Renamed' })
	await open(`workflows/${id}?tab=people`)
	await page.getByRole('link', { name: 'ann@example.com' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann@example.com' }).waitFor()
	const path = page.getByRole('group', { name: 'The path on version 1' })
	await path.getByRole('button', { name: /^Wait for event Here now Order/ }).waitFor()
	t.deepEqual(
		(await path.getByRole('button').allInnerTexts())
			.map((text) => text.split('\n').slice(0, 3))
			.filter(([, , name]) => name),
		[
			['Trigger', 'Passed', 'Trigger'],
			['Send email', 'Passed', 'Welcome mail'],
			['Wait for event', 'Here now', 'Order'],
			['Exit', 'Bought', 'End here'],
			['Send email', 'Reminder', 'Send “Welcome”'],
		],
	)
	t.is(await path.getByRole('button', { name: /Add a step/ }).count(), 0)
	const timeline = page.getByRole('region', { name: 'Steps so far' }).getByRole('listitem')
	await timeline
		.filter({ hasText: 'Order' })
		.getByText(/^Until/)
		.waitFor()
	t.notRegex(await timeline.filter({ hasText: 'Welcome mail' }).innerText(), /T\d\d:\d\d:\d\d/)
	t.deepEqual(await barriersOf(page), [])
	await timeline.filter({ hasText: 'Welcome mail' }).getByRole('link', { name: 'The mail' }).click()
	await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
	t.deepEqual(faults, [])
})

test('the steps so far say in words what was done, without names of the API', async (t) => {
	const { page, open, app, withPublicKey, workflow, enter, move, faults } = await setupWorkflows(t)
	const branches = [{ id: 'b1', name: 'Large plans', operator: 'equals', value: 'pro' }]
	const { id, enable } = await workflow(
		'Upgrade',
		[
			{ type: 'UPDATE_CONTACT', name: 'Set plan', config: { data: { plan: 'pro', trial: null } } },
			{
				type: 'CONDITION',
				name: 'Which plan',
				config: { mode: 'multi', field: 'contact.plan', branches },
			},
			{ type: 'WAIT_FOR_EVENT', name: 'Order', config: { eventName: 'order' } },
			{ type: 'EXIT', name: 'Bought', config: { reason: 'Has an order' } },
		],
		[
			'Trigger > Set plan',
			'Set plan > Which plan',
			'Which plan: b1 > Order',
			'Order: event > Bought',
		],
	)
	await enable()
	const execution = await enter(id, 'ann@example.com')
	const order = { email: 'ann@example.com', event: 'order', data: { total: 20, item: 'Book' } }
	await app.inject({ method: 'POST', url: '/v1/track', headers: withPublicKey, payload: order })
	await move(execution)
	await open(`workflows/${id}/executions/${execution}`)
	const timeline = page.getByRole('region', { name: 'Steps so far' }).getByRole('listitem')
	await timeline.filter({ hasText: 'Exited' }).waitFor()
	await timeline.filter({ hasText: 'Large plans' }).waitFor()
	const details = (await timeline.allInnerTexts()).map((text) =>
		text
			.slice(text.indexOf('\n') + 1)
			.replace(/Done at .*?M\. ?/, '')
			.replace(/Received .*?M\./, 'Received then.')
			.trim()
			.split(/\n+/),
	)
	t.deepEqual(details, [
		['Trigger'],
		['Set plan', 'Set plan: pro. Removed trial. The contact is subscribed.'],
		['Which plan', 'Took the branch “Large plans”.'],
		['Order', 'The event “order” happened. Received then. item: Book, total: 20'],
		['Bought'],
		['Exited', 'Has an order'],
	])
	t.deepEqual(faults, [])
})

test('a workflow is started for a contact, who is cancelled, and a refusal is shown', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, enable } = await firstOrder()
	await enable()
	await call('POST', '/contacts', { email: 'ann@example.com' })
	await call('POST', '/contacts', { email: 'ben@example.com' })
	await open(`workflows/${id}?tab=people`)
	await page.getByRole('heading', { name: 'Nobody has entered yet' }).waitFor()
	const contact = page.getByLabel('Contact', { exact: true })
	const act = page.getByRole('button', { name: /^Start version 1/ })
	const start = async () => {
		await page.getByRole('button', { name: 'Start for a contact' }).click()
		// Enter starts it for nobody, and neither does the button before somebody is chosen.
		await page.getByRole('searchbox', { name: 'Find a contact' }).fill('ben')
		await page.keyboard.press('Enter')
		await act.click()
		await contact.locator('option', { hasText: 'ann' }).waitFor({ state: 'detached' })
		await contact.selectOption('ben@example.com')
		// The choice is kept, whoever is looked for next.
		await page.getByRole('searchbox', { name: 'Find a contact' }).fill('ann')
		await contact.locator('option', { hasText: 'ann' }).waitFor({ state: 'attached' })
		t.is(await act.innerText(), 'Start version 1 for ben@example.com')
		await act.click()
	}
	await start()
	await page.getByRole('heading', { level: 1, name: 'ben@example.com' }).waitFor()
	await page.getByRole('button', { name: 'Cancel the execution' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the execution' }).click()
	await page.getByText('Cancelled', { exact: true }).first().waitFor()
	await page.getByRole('link', { name: 'First order' }).click()
	await start()
	await page.getByRole('alert').getByText('This contact cannot enter the workflow again').waitFor()
	t.deepEqual(
		faults.filter((fault) => !fault.includes('409')),
		[],
	)
})

test('a workflow is started for a contact whose whole address is typed, though many contain it', async (t) => {
	const { page, open, pool, project, firstOrder, faults } = await setupWorkflows(t)
	const { id, enable } = await firstOrder()
	await enable()
	await addContactsAlike(pool, project.id, 'ann@example.org')
	await open(`workflows/${id}?tab=people`)
	await page.getByRole('button', { name: 'Start for a contact' }).click()
	await page.getByRole('searchbox', { name: 'Find a contact' }).fill(' Ann@example.org')
	await page.getByLabel('Contact', { exact: true }).selectOption('ann@example.org')
	await page.getByRole('button', { name: 'Start version 1 for ann@example.org' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann@example.org' }).waitFor()
	t.deepEqual(faults, [])
})

test('a workflow is started for a contact while its steps have unsaved changes, which stay', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf, enable } = await firstOrder()
	await enable()
	await call('POST', '/contacts', { email: 'ann@example.com' })
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	await page.getByLabel('Name', { exact: true }).fill('Second reminder')
	await page.getByRole('tab', { name: 'People' }).click()
	await page.getByRole('button', { name: 'Start for a contact' }).click()
	await page.getByLabel('Contact', { exact: true }).selectOption('ann@example.com')
	const dialog = page.getByRole('dialog', { name: 'Start for a contact' })
	await dialog.getByRole('button', { name: 'Start version 1 for ann@example.com' }).click()
	await page.getByText('Started for ann@example.com').waitFor()
	await dialog.waitFor({ state: 'detached' })
	await page.getByRole('table', { name: 'People' }).getByText('ann@example.com').waitFor()
	await page.getByRole('tab', { name: 'Steps' }).click()
	await page.getByRole('button', { name: 'Send email Second reminder' }).waitFor()
	t.is(await page.getByRole('alertdialog').count(), 0)
	t.deepEqual(faults, [])
})

test('why a webhook failed is said in words', async (t) => {
	const { page, open, pool, enter, firstOrder, faults } = await setupWorkflows(t)
	const { id, enable } = await firstOrder()
	await enable()
	const failed = await enter(id, 'ann@example.com')
	await pool.query(
		`update executions set status = 'FAILED', error = 'WebhookFailed: ECONNREFUSED',
			completed_at = now(), due_at = null, wait_event_name = null`,
	)
	await open(`workflows/${id}?tab=people`)
	await page.getByText('Order: Nothing listens at this address').waitFor()
	await open(`workflows/${id}/executions/${failed}`)
	await page.getByText('Nothing listens at this address').waitFor()
	t.deepEqual(faults, [])
})

test('people are filtered by status and step; failed ones are retried, and all are cancelled with a count', async (t) => {
	const { page, open, call, pool, enter, firstOrder, faults } = await setupWorkflows(t)
	const { id, enable } = await firstOrder()
	await enable()
	await enter(id, 'ann@example.com')
	const failed = await enter(id, 'ben@example.com')
	await pool.query(
		`update executions set status = 'FAILED', error = 'The template is gone', completed_at = now(),
			due_at = null, wait_event_name = null where id = $1`,
		[failed],
	)
	await open(`workflows/${id}?tab=people`)
	const rows = page.getByRole('table', { name: 'People' }).getByRole('link')
	await rows.nth(1).waitFor()
	await page.getByLabel('Status').selectOption('Failed')
	await rows.filter({ hasText: 'ann' }).waitFor({ state: 'detached' })
	await page.getByText('Order: The template is gone').waitFor()
	await page.getByLabel('Step').selectOption('At “Reminder”')
	await page.getByRole('heading', { name: 'Nobody is like that' }).waitFor()
	await page.getByLabel('Step').selectOption('At any step')
	await page.getByLabel('Status').selectOption('Any status')
	await page.getByRole('button', { name: 'Retry 1 failed' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Retry 1 execution' }).click()
	await page.getByRole('button', { name: 'Retry 1 failed' }).waitFor({ state: 'detached' })
	await page.getByRole('button', { name: 'Cancel all' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel 2 executions' }).click()
	await page.getByText('2 executions cancelled').waitFor()
	const { data } = await call<{ data: { status: string }[] }>('GET', `/workflows/${id}/executions`)
	t.deepEqual(
		data.map(({ status }) => status),
		['CANCELLED', 'CANCELLED'],
	)
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})
