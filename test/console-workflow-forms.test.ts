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
