import test from 'ava'
import type { Page } from 'playwright-core'
import { barriersOf, phone } from './helpers/console.ts'
import { setupWorkflows } from './helpers/console-workflows.ts'

interface Stored {
	enabled: boolean
	version: number | null
	steps: { id: string; name: string; type: string; config: object; templateId: string | null }[]
	transitions: { fromStepId: string; toStepId: string; branch: string | null }[]
}

/** The stored ways by names: `Order: timeout > Reminder`. */
function waysOf({ steps, transitions }: Stored) {
	const name = (id: string) => steps.find((step) => step.id === id)!.name
	return transitions
		.map(
			({ fromStepId, branch, toStepId }) =>
				`${name(fromStepId)}${branch ? `: ${branch}` : ''} > ${name(toStepId)}`,
		)
		.toSorted()
}

const picture = (page: Page) => page.getByRole('group', { name: 'Steps of the workflow' })
const adding = (page: Page, place: string) =>
	picture(page).getByRole('button', { name: `Add a step ${place}`, exact: true })
// By the keyboard: the picture may be moving to the step that was just changed.
const add = async (page: Page, place: string, kind: string) => {
	await adding(page, place).press('Enter')
	await page.getByRole('dialog').getByRole('button', { name: kind }).click()
}
const publish = async (page: Page, question: RegExp) => {
	await page.getByRole('button', { name: 'Publish' }).click()
	const dialog = page.getByRole('alertdialog')
	await dialog.getByText(question).waitFor()
	await dialog.getByRole('button', { name: 'Publish' }).click()
}

test('a workflow with a wait and a branch is built in the picture, checked at its steps and enabled', async (t) => {
	const { page, open, call, faults, home } = await setupWorkflows(t)
	await open('workflows')
	await page.getByRole('button', { name: 'New workflow' }).first().click()
	await page.getByLabel('Name', { exact: true }).fill('Onboarding')
	await page.getByLabel('Starts with the event').fill('joined')
	await page.getByRole('button', { name: 'Create workflow' }).click()
	await page.getByRole('heading', { level: 1, name: 'Onboarding' }).waitFor()
	const id = page.url().slice(`${home}/workflows/`.length)

	await adding(page, 'after Trigger').click()
	await page.getByRole('dialog').getByRole('button', { name: 'Send email' }).click()
	await picture(page).getByText('Choose a template').waitFor()
	await page.getByRole('region', { name: 'Step Send email' }).getByText('is required').waitFor()
	await page.getByLabel('Template').selectOption('Welcome')
	await add(page, 'after Send email', 'Wait for event')
	await page.getByLabel('Name', { exact: true }).fill('Order')
	await page.getByLabel('Event', { exact: true }).fill('order')
	await page.getByLabel('Stop waiting after a time').check()
	await add(page, 'after Order, time-out', 'Condition')
	await page
		.getByLabel('Decides')
		.selectOption('Yes or no, by one field of the contact, the event or a step')
	await page.getByLabel('Field').fill('contact.plan')
	await page.getByLabel('Value').fill('pro')
	await add(page, 'after Condition, yes', 'Exit')
	await page.getByText('No problems').waitFor()
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	await page.getByRole('button', { name: 'Enable', exact: true }).click()
	await page.getByText('New people get version 1.').waitFor()

	const stored = await call<Stored>('GET', `/workflows/${id}`)
	t.like(stored, { enabled: true, version: 1 })
	t.deepEqual(waysOf(stored), [
		'Condition: yes > Exit',
		'Order: timeout > Condition',
		'Send email > Order',
		'Trigger > Send email',
	])
	const wait = stored.steps.find(({ name }) => name === 'Order')!
	t.deepEqual(wait.config, { eventName: 'order', timeout: 259_200 })
	await picture(page).getByText('Wait up to 3 days for order').waitFor()
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})

test('a workflow that is not complete is not enabled, which is said without ids', async (t) => {
	const { page, open, workflow, faults } = await setupWorkflows(t)
	const { id } = await workflow(
		'Win back',
		[{ type: 'SEND_EMAIL', name: 'We miss you' }],
		['Trigger > We miss you'],
	)
	await open(`workflows/${id}`)
	await page.getByRole('button', { name: 'Enable', exact: true }).click()
	const refusal = page.getByRole('alert')
	await refusal.getByText('Not enabled: some steps are not complete').waitFor()
	t.notRegex(await refusal.innerText(), /steps\./)
	await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
	t.deepEqual(
		faults.filter((fault) => !fault.includes('422')),
		[],
	)
})

test('every kind of step is set in its form, and the trigger too', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	const { id } = await workflow(
		'Forms',
		[
			{ type: 'UPDATE_CONTACT', name: 'Update' },
			{ type: 'WEBHOOK', name: 'Hook' },
			{ type: 'CONDITION', name: 'Choose' },
			{ type: 'EXIT', name: 'End' },
		],
		['Trigger > Update', 'Update > Hook', 'Hook > Choose', 'Choose: yes > End'],
	)
	await open(`workflows/${id}?view=list`)
	const steps = page.getByRole('list', { name: 'Steps' })
	const choose = (name: RegExp) => steps.getByRole('button', { name }).click()
	await choose(/^Update Update contact/)
	await page.getByRole('button', { name: 'Add a field' }).click()
	await page.getByLabel('Field', { exact: true }).fill('visits')
	await page.getByLabel('Value', { exact: true }).fill('3')
	await page.getByLabel('Subscription').selectOption('Unsubscribe')
	await choose(/^Hook/)
	await page.getByLabel('URL').fill('https://example.org/hook')
	await page.getByLabel('Headers').fill('X-Source: {{ event.name }}')
	await page.getByLabel('Body').fill('{"a": 1')
	await page.getByRole('region', { name: 'Step Hook' }).getByText('is not JSON yet').waitFor()
	await page.getByLabel('Body').fill('{"a": 1}')
	await page.getByLabel('Repeat failed calls for').fill('2')
	await choose(/^Choose/)
	await page.getByLabel('Decides').selectOption('Several branches, by one field')
	await page.getByLabel('Field', { exact: true }).fill('event.total')
	await page.getByLabel('Value of A').fill('10')
	await choose(/^End/)
	await page.getByLabel('Reason').fill('Done')
	await choose(/^Trigger/)
	await page.getByLabel('Starts by').selectOption('A schedule')
	await page.getByLabel('Schedule', { exact: true }).fill('0 9 * *')
	await page.getByText('must have five fields').waitFor()
	await page.getByLabel('Schedule', { exact: true }).fill('0 9 * * 1')
	await page.getByLabel('Time zone').fill('Europe/Berlin')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const stored = await call<Stored & { triggerConfig: object }>('GET', `/workflows/${id}`)
	t.deepEqual(Object.fromEntries(stored.steps.map(({ name, config }) => [name, config])), {
		Trigger: {},
		Update: { data: { visits: 3 }, subscribed: false },
		Hook: {
			url: 'https://example.org/hook',
			headers: { 'X-Source': '{{ event.name }}' },
			body: { a: 1 },
			retryFor: 7200,
		},
		Choose: {
			mode: 'multi',
			field: 'event.total',
			branches: [{ id: 'a', name: 'A', operator: 'equals', value: 10 }],
		},
		End: { reason: 'Done' },
	})
	t.true(waysOf(stored).includes('Choose: a > End'))
	t.deepEqual(stored.triggerConfig, { schedule: '0 9 * * 1', timezone: 'Europe/Berlin' })
	t.deepEqual(faults, [])
})

test('changes of an enabled workflow are published together, and people stay on their version', async (t) => {
	const { page, open, call, enter, firstOrder, faults } = await setupWorkflows(t)
	const { id, enable } = await firstOrder()
	await enable()
	await enter(id, 'ann@example.org')
	await enter(id, 'ben@example.org')
	await open(`workflows/${id}`)
	await picture(page)
		.getByRole('button', { name: /^Wait for event Order.*2 here now/ })
		.waitFor()
	await picture(page)
		.getByRole('button', { name: /^Send email Welcome mail.*2 passed/ })
		.waitFor()
	await add(page, 'between Welcome mail and Order', 'Delay')
	await page.getByLabel('Wait for', { exact: true }).fill('')
	await page.getByRole('button', { name: 'Publish', disabled: true }).waitFor()
	await page.getByLabel('Wait for', { exact: true }).fill('2')
	await picture(page)
		.getByRole('button', { name: /^Wait for event Order/ })
		.click()
	await page.getByRole('button', { name: 'Delete step' }).click()
	const question = page.getByRole('alertdialog')
	await question.getByText('2 people are at this step now.').waitFor()
	await question.getByRole('button', { name: 'Delete step' }).click()
	await publish(page, /2 people are in it now, .* people at steps that you deleted: “Order”/)
	await page.getByText('New people get version 2. 2 people are still on version 1.').waitFor()
	t.is((await call<object[]>('GET', `/workflows/${id}/versions`)).length, 2)
	t.deepEqual(waysOf(await call('GET', `/workflows/${id}`)), [
		'Trigger > Welcome mail',
		'Welcome mail > Delay',
	])
	t.deepEqual(faults, [])
})

test('steps are connected by dragging and by the keyboard, and changes are undone', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id } = await firstOrder()
	await open(`workflows/${id}`)
	const reminder = picture(page).getByRole('button', { name: /^Send email Reminder/ })
	const bought = picture(page).getByRole('button', { name: /^Exit Bought/ })
	const [from, to] = [(await reminder.boundingBox())!, (await bought.boundingBox())!]
	await page.mouse.move(from.x + from.width / 2, from.y + from.height)
	await page.mouse.down()
	await page.mouse.move(to.x + to.width / 2, to.y + 2, { steps: 8 })
	await page.mouse.up()
	await page.getByRole('button', { name: 'Add a step between Reminder and Bought' }).waitFor()
	await reminder.focus()
	await page.keyboard.press('Enter')
	await page.getByRole('region', { name: 'Step Reminder' }).waitFor()
	await page.getByLabel('Next step').selectOption('Order')
	await page.getByRole('button', { name: 'Add a step between Reminder and Order' }).waitFor()
	await page.getByRole('button', { name: 'Undo' }).click()
	await page.getByRole('button', { name: 'Add a step between Reminder and Bought' }).waitFor()
	await page.keyboard.press('Control+Shift+Z')
	await page
		.getByLabel('Next step')
		.locator('option:checked', { hasText: 'Order' })
		.waitFor({ state: 'attached' })
	await page.getByRole('button', { name: 'Discard changes' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	t.true(waysOf(await call('GET', `/workflows/${id}`)).includes('Reminder > Order'))
	await page.getByLabel('Next step').focus()
	await page.keyboard.press('Escape')
	const focused = page.locator(':focus')
	const follow = async (key: string, name: RegExp) => {
		await page.keyboard.press(key)
		await focused.filter({ hasText: name }).waitFor()
	}
	await focused.filter({ hasText: 'Reminder' }).waitFor()
	await follow('ArrowLeft', /Bought/)
	await follow('ArrowUp', /Wait up to 3 days/)
	await follow('ArrowUp', /Welcome mail/)
	await follow('ArrowUp', /When “joined” happens/)
	await follow('ArrowDown', /Welcome mail/)
	t.deepEqual(faults, [])
})

test('of two people who edit a workflow, the second is told, and saves over it or discards; leaving asks first', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf } = await firstOrder()
	await open(`workflows/${id}`)
	const reminder = picture(page).getByRole('button', { name: /^Send email Reminder/ })
	const told = page.getByRole('alert').getByText('This workflow has changed since you opened it')
	const changeHereAnd = async (name: string, changeElsewhere: () => Promise<unknown>) => {
		await picture(page)
			.getByRole('button', { name: /^Send email (Reminder|Mine)/ })
			.click()
		await page.getByLabel('Name', { exact: true }).fill(name)
		await changeElsewhere()
		await page.getByRole('button', { name: 'Save', exact: true }).click()
		await told.waitFor()
	}
	const names = async () => {
		const { steps }: Stored = await call('GET', `/workflows/${id}`)
		return steps.map(({ name }) => name)
	}
	await changeHereAnd('Discarded', () =>
		call('PATCH', `/workflows/${id}`, { description: 'Changed elsewhere' }),
	)
	await page.getByRole('link', { name: 'Workflows' }).first().click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
	await page.getByRole('button', { name: 'Discard my changes' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Discard my changes' }).click()
	await reminder.waitFor()
	t.is(await told.count(), 0)

	await changeHereAnd('Mine', () => call('DELETE', `/workflows/${id}/steps/${idOf('Bought')}`))
	t.false((await names()).some((name) => name === 'Mine' || name === 'Bought'))
	await page.getByRole('button', { name: 'Save mine over it' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const after = await names()
	t.true(after.includes('Mine') && after.includes('Bought'), after.join())
	t.deepEqual(
		faults.filter((fault) => !fault.includes('409')),
		[],
	)
})

test('when the session ends, the changes of a workflow are there again after the log-in', async (t) => {
	const { page, open, call, firstOrder, home } = await setupWorkflows(t)
	const { id } = await firstOrder()
	await open(`workflows/${id}`)
	await picture(page)
		.getByRole('button', { name: /^Send email Reminder/ })
		.click()
	await page.getByLabel('Name', { exact: true }).fill('Kept')
	const cookies = await page.context().cookies()
	await page.context().clearCookies()
	// By a key: any request of the page may ask for the log-in first, and take the field away.
	await page.keyboard.type('!')
	await page.waitForURL(/log-in/)
	await page.context().addCookies(cookies)
	await page.goto(`${home}/workflows/${id}`)
	await page.getByText('These are your changes from before').waitFor()
	await page.getByRole('button', { name: 'Save', exact: true }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const { steps }: Stored = await call('GET', `/workflows/${id}`)
	t.true(steps.some(({ name }) => name.startsWith('Kept')))
	await page.reload()
	await picture(page)
		.getByRole('button', { name: /^Send email Kept/ })
		.waitFor()
	t.is(await page.getByText('These are your changes from before').count(), 0)
})

test('two versions are compared in colours and in words, and the old one is restored', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf, enable } = await firstOrder()
	await enable()
	await call('PATCH', `/workflows/${id}/steps/${idOf('Order')}`, {
		config: { eventName: 'order', timeout: 432_000 },
	})
	await call('DELETE', `/workflows/${id}/steps/${idOf('Bought')}`)
	await open(`workflows/${id}?tab=versions`)
	await page.getByRole('button', { name: 'Show 3' }).click()
	await page.getByLabel('Compare with').selectOption('Compared with 1')
	const differences = page.getByRole('list', { name: 'Differences' }).getByRole('listitem')
	await differences.first().waitFor()
	t.deepEqual(
		(await differences.allInnerTexts()).map((text) => text.replaceAll('\n\n', '\n')),
		[
			'Changed\nOrder\nWait up to 3 days for order → Wait up to 5 days for order\nIf event, leads to: “Bought” → the end',
			'Removed\nBought\nEnd here',
		],
	)
	const older = page.getByRole('group', { name: 'Version 1' })
	await older.getByRole('button', { name: /^Exit Removed Bought/ }).waitFor()
	t.is(await older.getByRole('button', { name: /Add a step/ }).count(), 0)
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'All versions' }).click()
	await page.getByRole('button', { name: 'Show 1' }).click()
	await page.getByRole('button', { name: 'Restore version 1' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Restore version 1' }).click()
	await page.getByText('New people get version 4.').waitFor()
	await picture(page).getByText('Wait up to 3 days for order').waitFor()
	t.deepEqual(faults, [])
})

test('workflows are found, copied, disabled and deleted with the executions that it ends', async (t) => {
	const { page, open, call, enter, firstOrder, faults } = await setupWorkflows(t)
	await open('workflows')
	await page.getByRole('heading', { name: 'No workflow yet' }).waitFor()
	const { id, enable } = await firstOrder()
	await enable()
	await enter(id, 'ann@example.org')
	await open('workflows')
	const row = page.getByRole('row').filter({ hasText: 'When “joined” happens' }).first()
	await row.waitFor()
	t.deepEqual(await row.getByRole('cell').allInnerTexts(), [
		'First order',
		'When “joined” happens',
		'Enabled, version 1',
		'1',
		'0',
		'',
	])
	const act = async (name: string) => {
		await page.getByRole('button', { name: 'Acts on First order', exact: true }).click()
		await page.getByRole('menuitem', { name }).click()
	}
	await act('Duplicate')
	await page.getByRole('link', { name: 'First order (Copy)' }).waitFor()
	await act('Disable')
	await page.getByRole('alertdialog').getByText('1 person goes on to the end.').waitFor()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click()
	await page.getByText('Disabled. Nobody new enters').waitFor()
	await act('Delete')
	await page.getByRole('alertdialog').getByText('1 execution ends at once.').waitFor()
	await page.getByRole('alertdialog').getByRole('button', { name: 'End 1 and delete' }).click()
	await page.getByText('“First order” is deleted').waitFor()
	const { data } = await call<{ data: { id: string }[] }>('GET', '/workflows')
	t.false(data.some((one) => one.id === id))
	t.is(data.length, 1)
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})

/** A finger goes up or down over the picture. */
async function slide(page: Page, { x, y }: { x: number; y: number }, by: number) {
	const devtools = await page.context().newCDPSession(page)
	const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', moved: number) =>
		devtools.send('Input.dispatchTouchEvent', {
			type,
			touchPoints: type === 'touchEnd' ? [] : [{ x: x - 20, y: y + moved }],
		})
	await touch('touchStart', 0)
	for (let part = 1; part <= 6; part++) await touch('touchMove', (by * part) / 6)
	await touch('touchEnd', by)
}

test('on a phone the picture follows a finger, a step opens over it, and the list of steps says the same', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t, {
		browser: { viewport: phone, hasTouch: true },
	})
	const { id } = await firstOrder()
	const touched = Promise.withResolvers<void>()
	await page.route('**/validate', async (route) => {
		await touched.promise
		await route.continue()
	})
	await open(`workflows/${id}`)
	const mail = picture(page).getByRole('button', { name: /^Send email Welcome mail/ })
	await mail.waitFor()
	const before = (await mail.boundingBox())!
	await slide(page, before, -120)
	touched.resolve()
	// The result of the check comes without moving the picture.
	await page.getByText('No problems').waitFor()
	const after = (await mail.boundingBox())!
	t.is(Math.round(after.x - before.x), 0)
	t.is(Math.round(after.y - before.y), -120)
	t.is(await page.evaluate('scrollY'), 0)
	await mail.tap()
	await page.getByLabel('Name', { exact: true }).fill('Hello')
	await page.getByRole('button', { name: 'Close the step' }).tap()
	await page.getByRole('button', { name: 'Show as list' }).tap()
	const steps = page.getByRole('list', { name: 'Steps' }).getByRole('button')
	await steps.first().waitFor()
	t.deepEqual(
		(await steps.allInnerTexts()).map((text) => text.split('\n')[0]),
		['Trigger', 'Hello', 'Order', 'Bought', 'Reminder'],
	)
	await steps.nth(2).getByText('If event: Bought · If time-out: Reminder').waitFor()
	t.deepEqual(await barriersOf(page), [])
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await page.getByRole('button', { name: 'Save' }).tap()
	await page.getByText('Saved', { exact: true }).waitFor()
	t.true(waysOf(await call('GET', `/workflows/${id}`)).includes('Trigger > Hello'))
	t.deepEqual(faults, [])
})

test('pages that name the segments of a project ask for them once', async (t) => {
	const { page, open, firstOrder, faults } = await setupWorkflows(t)
	await firstOrder()
	let asked = 0
	page.on('request', (request) => {
		if (new URL(request.url()).pathname === '/segments') asked += 1
	})
	await open('contacts')
	await page.getByText('No contact yet').waitFor()
	await page.getByRole('link', { name: 'Workflows' }).click()
	await page.getByRole('link', { name: 'First order' }).click()
	await picture(page).getByText('Welcome mail').waitFor()
	await page.waitForLoadState('networkidle')
	t.is(asked, 1)
	t.deepEqual(faults, [])
})

test('a step says how many mails it did not send, and calls nobody failed who goes on', async (t) => {
	const { page, open, enter, firstOrder, pool, faults } = await setupWorkflows(t)
	const { id, enable } = await firstOrder()
	await enable()
	await pool.query(`update templates set "from" = 'us@lost.example'`)
	await enter(id, 'ann@example.org')
	await open(`workflows/${id}`)
	await picture(page)
		.getByRole('button', { name: /^Send email Welcome mail.*1 not sent/ })
		.waitFor()
	t.is(await page.getByText('1 failed').count(), 0)
	t.deepEqual(faults, [])
})

test('a workflow whose people cannot be counted is not deleted without a word', async (t) => {
	const { page, open, call, firstOrder } = await setupWorkflows(t)
	const { id } = await firstOrder()
	await open('workflows')
	const remove = async () => {
		await page.getByRole('button', { name: 'Acts on First order', exact: true }).click()
		await page.getByRole('menuitem', { name: 'Delete' }).click()
	}
	await page.route('**/versions', (route) => route.abort())
	await remove()
	await page.getByRole('alert').getByText('Check your connection').waitFor()
	await page.unroute('**/versions')
	await remove()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
	await page.getByRole('alertdialog').waitFor({ state: 'detached' })
	t.like(await call('GET', `/workflows/${id}`), { id })
})

test('the picture stays in the middle when the settings of a step open and close, unless it was moved', async (t) => {
	const { page, open, firstOrder, faults } = await setupWorkflows(t)
	const { id } = await firstOrder()
	await open(`workflows/${id}`)
	const steps = picture(page)
	/** How much further all steps are from one edge than from the other, once they rest. */
	const shift = () =>
		page.evaluate<number>(`new Promise((answer) => {
			const frame = document.querySelector('[aria-label="Steps of the workflow"]')
			let [last, frames] = [undefined, 0]
			const look = () => {
				const all = [...frame.querySelectorAll('[data-step]')].map((step) => step.getBoundingClientRect())
				const left = Math.min(...all.map((step) => step.left))
				const right = Math.max(...all.map((step) => step.right))
				const edges = frame.getBoundingClientRect()
				const shift = Math.abs(Math.round(left - edges.left - (edges.right - right)))
				frames = shift === last ? frames + 1 : 0
				last = shift
				if (frames === 30) answer(shift)
				else requestAnimationFrame(look)
			}
			look()
		})`)
	await steps.getByRole('button', { name: /^Send email Reminder/ }).waitFor()
	const before = await shift()
	t.true(before <= 4, `${before} at first`)
	await steps.getByRole('button', { name: /^Wait for event/ }).click()
	const panel = page.getByRole('region', { name: 'Step Order' })
	await panel.waitFor()
	t.is(await shift(), before)
	await panel.getByRole('button', { name: 'Close' }).click()
	await panel.waitFor({ state: 'detached' })
	t.is(await shift(), before)
	await steps.hover({ position: { x: 10, y: 10 } })
	await page.mouse.wheel(60, 0)
	const moved = await shift()
	t.not(moved, before)
	await steps.getByRole('button', { name: /^Wait for event/ }).click()
	await panel.waitFor()
	await panel.getByRole('button', { name: 'Close' }).click()
	await panel.waitFor({ state: 'detached' })
	t.not(await shift(), before)
	t.deepEqual(faults, [])
})
