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

test('a body and headers that are not finished stay as they are typed, and say what is not saved', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	const hook = {
		url: 'https://example.org/hook',
		headers: { 'X-Source': 'tempost' },
		body: { plan: 'pro' },
	}
	const { id, idOf } = await workflow(
		'Typed',
		[
			{ type: 'WEBHOOK', name: 'Hook', config: hook },
			{ type: 'DELAY', name: 'Pause', config: { amount: 1, unit: 'days' } },
		],
		['Trigger > Hook', 'Hook > Pause'],
	)
	const step = (name: RegExp) =>
		page.getByRole('list', { name: 'Steps' }).getByRole('button', { name }).click()
	const configOf = async () =>
		(await call<Stored>('GET', `/workflows/${id}`)).steps.find(({ name }) => name === 'Hook')!
			.config
	const [body, headers] = [page.getByLabel('Body'), page.getByLabel('Headers')]
	await open(`workflows/${id}?view=list&step=${idOf('Hook')}`)
	await typeOver(page.getByLabel('URL'), 'https://example.org/new')
	await typeOver(body, '{"plan": ')
	await typeOver(headers, 'X-Source: web\nX-Sale')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved, except what is not finished').waitFor()
	await page.getByRole('button', { name: '2 problems' }).waitFor()
	await page.getByText('is not JSON yet: ').last().waitFor()
	// The settings that could be read last.
	t.deepEqual(await configOf(), {
		url: 'https://example.org/new',
		headers: { 'X-Source': 'web' },
	})
	await step(/^Pause/)
	await step(/^Hook/)
	t.is(await body.inputValue(), '{"plan": ')
	t.is(await headers.inputValue(), 'X-Source: web\nX-Sale')
	await body.press('Control+End')
	await body.pressSequentially('"free"}')
	await headers.press('Control+End')
	await headers.pressSequentially(': yes')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
	t.deepEqual(await configOf(), {
		url: 'https://example.org/new',
		headers: { 'X-Source': 'web', 'X-Sale': 'yes' },
		body: { plan: 'free' },
	})
	t.deepEqual(faults, [])
})

test('a form shows what undo and discard bring back', async (t) => {
	const { page, open, workflow, faults } = await setupWorkflows(t)
	const { id, idOf } = await workflow(
		'Undone',
		[{ type: 'WEBHOOK', name: 'Hook', config: { url: 'https://example.org/', body: { a: 1 } } }],
		['Trigger > Hook'],
	)
	const body = page.getByLabel('Body')
	await open(`workflows/${id}?view=list&step=${idOf('Hook')}`)
	const stored = await body.inputValue()
	await typeOver(body, '[2]')
	await page.getByRole('button', { name: 'Undo' }).click()
	t.is(await body.inputValue(), stored)
	await page.getByRole('button', { name: 'Redo' }).click()
	t.is(await body.inputValue(), '[\n  2\n]')
	t.deepEqual(faults, [])
})

test('editing one field of a contact leaves the types of the other values as they are', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	const data = { code: '12', mark: 'true', list: '["a"]', total: 5, plan: 'pro' }
	const { id, idOf } = await workflow(
		'Types',
		[{ type: 'UPDATE_CONTACT', name: 'Update', config: { data } }],
		['Trigger > Update'],
	)
	await open(`workflows/${id}?view=list&step=${idOf('Update')}`)
	const fields = page.getByLabel('Field', { exact: true })
	const values = page.getByLabel('Value', { exact: true })
	await fields.first().waitFor()
	const names = await Promise.all((await fields.all()).map((field) => field.inputValue()))
	await values.nth(names.indexOf('plan')).fill('20')
	await fields.nth(names.indexOf('code')).fill('zip')
	await page.getByRole('button', { name: 'Remove the field list' }).click()
	await page.getByRole('button', { name: 'Add a field' }).click()
	await fields.last().fill('vip')
	await values.last().fill('true')
	await page.getByRole('button', { name: 'Save', exact: true }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const { steps } = await call<Stored>('GET', `/workflows/${id}`)
	t.deepEqual(steps.find(({ name }) => name === 'Update')!.config, {
		data: { zip: '12', mark: 'true', total: 5, plan: 20, vip: true },
	})
	t.deepEqual(faults, [])
})
