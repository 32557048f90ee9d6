import test from 'ava'
import { setupWorkflows } from './helpers/console-workflows.ts'

test('changes made while a workflow is being saved are kept, and saved next', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf } = await firstOrder()
	const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
	await page.route('**/graph', async (route) => {
		sent.resolve()
		await answered.promise
		await route.continue()
	})
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	const name = page.getByLabel('Name', { exact: true })
	const save = page.getByRole('button', { name: 'Save', exact: true })
	const saved = page.getByText('Saved', { exact: true })
	const storedName = async () => {
		const { steps } = await call<{ steps: { id: string; name: string }[] }>(
			'GET',
			`/workflows/${id}`,
		)
		return steps.find((step) => step.id === idOf('Reminder'))!.name
	}
	await name.press('End')
	await name.pressSequentially(' one')
	await save.click()
	await sent.promise
	await name.press('End')
	await name.pressSequentially(', two')
	answered.resolve()
	await saved.waitFor()
	t.is(await name.inputValue(), 'Reminder one, two')
	t.is(await storedName(), 'Reminder one')

	const again = page.waitForResponse(/\/graph$/)
	await save.click()
	t.is((await again).status(), 200)
	await save.waitFor({ state: 'detached' })
	t.is(await storedName(), 'Reminder one, two')
	t.deepEqual(faults, [])
})

test('renaming a workflow keeps the note that another person has changed meanwhile', async (t) => {
	const { page, open, call, firstOrder } = await setupWorkflows(t)
	const { id } = await firstOrder()
	await open(`workflows/${id}`)
	await page.getByRole('button', { name: 'More', exact: true }).click()
	await page.getByRole('menuitem', { name: 'Rename' }).click()
	const dialog = page.getByRole('dialog', { name: 'Name and note' })
	await dialog.getByLabel('Name', { exact: true }).fill('Second order')
	await call('PATCH', `/workflows/${id}`, { description: 'For all' })
	await dialog.getByRole('button', { name: 'Save' }).click()
	await dialog.waitFor({ state: 'detached' })
	t.like(await call('GET', `/workflows/${id}`), { name: 'Second order', description: 'For all' })
})

test('copying a workflow asks about unsaved changes before the copy is made, and deleting it asks once', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf } = await firstOrder()
	const name = page.getByLabel('Name', { exact: true })
	const question = page.getByRole('alertdialog')
	const more = async (act: string) => {
		await page.getByRole('button', { name: 'More', exact: true }).click()
		await page.getByRole('menuitem', { name: act }).click()
	}
	const stored = async () => (await call<{ total: number }>('GET', '/workflows')).total
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	await name.fill('Second reminder')
	await more('Duplicate')
	await question.getByText('Your changes since then are lost').waitFor()
	t.is(await stored(), 1)
	await question.getByRole('button', { name: 'Cancel' }).click()
	await question.waitFor({ state: 'detached' })
	t.is(await name.inputValue(), 'Second reminder')
	await more('Duplicate')
	await question.getByRole('button', { name: 'Leave without saving' }).click()
	await page.getByRole('heading', { level: 1, name: 'First order (Copy)' }).waitFor()
	t.is(await question.count(), 0)
	t.is(await stored(), 2)

	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	t.is(await name.inputValue(), 'Reminder')
	await name.fill('Third reminder')
	await more('Delete')
	await question.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor()
	t.is(await question.count(), 0)
	t.is(await stored(), 1)
	t.deepEqual(
		faults.filter((fault) => !fault.includes('404')),
		[],
	)
})
