import test from 'ava'
import type { Locator } from 'playwright-core'
import { setupWorkflows } from './helpers/console-workflows.ts'

interface Stored {
	steps: { name: string; config: object }[]
}

/** Key by key, over what was there. */
async function typeOver(field: Locator, text: string) {
	await field.press('Control+a')
	await field.press('Backspace')
	await field.pressSequentially(text)
}

test('a number with zeros or a sign is compared as it is typed', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	const { id, idOf } = await workflow(
		'Numbers',
		[
			{ type: 'CONDITION', name: 'One' },
			{ type: 'CONDITION', name: 'Many' },
		],
		['Trigger > One', 'One: yes > Many'],
	)
	await open(`workflows/${id}?view=list&step=${idOf('One')}`)
	await page
		.getByLabel('Decides')
		.selectOption('Yes or no, by one field of the contact, the event or a step')
	await page.getByLabel('Field', { exact: true }).fill('event.total')
	const value = page.getByLabel('Value', { exact: true })
	for (const typed of ['1.05', '-0.5', '0.05']) {
		await typeOver(value, typed)
		t.is(await value.inputValue(), typed)
	}
	await page.getByRole('list', { name: 'Steps' }).getByRole('button', { name: /^Many/ }).click()
	await page.getByLabel('Decides').selectOption('Several branches, by one field')
	await page.getByLabel('Field', { exact: true }).fill('event.total')
	await typeOver(page.getByLabel('Value of A'), '10.05')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const stored = await call<Stored>('GET', `/workflows/${id}`)
	const configOf = (name: string) => stored.steps.find((step) => step.name === name)!.config
	t.like(configOf('One'), { value: 0.05 })
	t.like(configOf('Many'), { branches: [{ value: 10.05 }] })
	t.deepEqual(faults, [])
})

test('the amount of a time can be deleted and typed anew', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	const { id, idOf } = await workflow(
		'Times',
		[
			{
				type: 'WAIT_FOR_EVENT',
				name: 'Order',
				config: { eventName: 'order', timeout: 3 * 86_400 },
			},
			{
				type: 'WEBHOOK',
				name: 'Hook',
				config: { url: 'https://example.org', method: 'POST', retryFor: 3 * 3600 },
			},
			{ type: 'DELAY', name: 'Pause', config: { amount: 3, unit: 'hours' } },
		],
		['Trigger > Order', 'Order: timeout > Hook', 'Hook > Pause'],
	)
	await open(`workflows/${id}?view=list&step=${idOf('Order')}`)
	const most = page.getByLabel('Wait at most')
	await most.press('End')
	await most.press('Backspace')
	t.is(await most.inputValue(), '')
	await most.blur()
	t.is(await most.inputValue(), '3')
	await typeOver(most, '1,5')
	t.is(await most.inputValue(), '1,5')
	const steps = page.getByRole('list', { name: 'Steps' })
	await steps.getByRole('button', { name: /^Hook/ }).click()
	await typeOver(page.getByLabel('Repeat failed calls for'), '5')
	await steps.getByRole('button', { name: /^Pause/ }).click()
	await typeOver(page.getByLabel('Wait for', { exact: true }), '5')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const stored = await call<Stored>('GET', `/workflows/${id}`)
	const configOf = (name: string) => stored.steps.find((step) => step.name === name)!.config
	t.like(configOf('Order'), { timeout: 1.5 * 86_400 })
	t.like(configOf('Hook'), { retryFor: 5 * 3600 })
	t.deepEqual(configOf('Pause'), { amount: 5, unit: 'hours' })
	t.deepEqual(faults, [])
})

test('the event of a wait and the address of a call are typed anew, and the other settings stay', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	const wait = { eventName: 'order', timeout: 3 * 86_400, since: 'start' }
	const hook = {
		url: 'https://example.org/old',
		method: 'PUT',
		headers: { 'X-Source': 'tempost' },
		body: { plan: 'pro' },
		retryFor: 86_400,
		continueOnError: true,
	}
	const { id, idOf } = await workflow(
		'Retyped',
		[
			{ type: 'WAIT_FOR_EVENT', name: 'Order', config: wait },
			{ type: 'WEBHOOK', name: 'Hook', config: hook },
		],
		['Trigger > Order', 'Order: timeout > Hook'],
	)
	await open(`workflows/${id}?view=list&step=${idOf('Order')}`)
	await typeOver(page.getByLabel('Event', { exact: true }), 'purchase')
	t.true(await page.getByLabel('Stop waiting after a time').isChecked())
	await page.getByRole('list', { name: 'Steps' }).getByRole('button', { name: /^Hook/ }).click()
	await typeOver(page.getByLabel('URL'), 'https://example.org/new')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const stored = await call<Stored>('GET', `/workflows/${id}`)
	const configOf = (name: string) => stored.steps.find((step) => step.name === name)!.config
	t.deepEqual(configOf('Order'), { ...wait, eventName: 'purchase' })
	t.deepEqual(configOf('Hook'), { ...hook, url: 'https://example.org/new' })
	t.deepEqual(faults, [])
})
