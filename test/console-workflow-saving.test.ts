import test from 'ava'
import type { Page } from 'playwright-core'
import { setupWorkflows } from './helpers/console-workflows.ts'

interface Stored {
	steps: { id: string; name: string }[]
}

const picture = (page: Page) => page.getByRole('group', { name: 'Steps of the workflow' })

async function chooseMore(page: Page, act: string) {
	await page.getByRole('button', { name: 'More', exact: true }).click()
	await page.getByRole('menuitem', { name: act }).click()
}

async function rename(page: Page, name: string) {
	await chooseMore(page, 'Rename')
	const dialog = page.getByRole('dialog', { name: 'Name and note' })
	await dialog.getByLabel('Name', { exact: true }).fill(name)
	await dialog.getByRole('button', { name: 'Save' }).click()
	await dialog.waitFor({ state: 'detached' })
}

/** The name of the chosen step and the button that saves it. The first save waits until `answer` is called. */
async function holdSave(page: Page) {
	const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
	await page.route('**/graph', async (route) => {
		sent.resolve()
		await answered.promise
		await route.continue()
	})
	return {
		name: page.getByLabel('Name', { exact: true }),
		save: page.getByRole('button', { name: 'Save', exact: true }),
		sent: sent.promise,
		answer: answered.resolve,
	}
}

test('changes made while a workflow is being saved are kept, and saved next', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf } = await firstOrder()
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	const { name, save, sent, answer } = await holdSave(page)
	const saved = page.getByText('Saved', { exact: true })
	const storedName = async () => {
		const { steps } = await call<Stored>('GET', `/workflows/${id}`)
		return steps.find((step) => step.id === idOf('Reminder'))!.name
	}
	await name.press('End')
	await name.pressSequentially(' one')
	await save.click()
	await sent
	await name.press('End')
	await name.pressSequentially(', two')
	answer()
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
	await chooseMore(page, 'Rename')
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
	const stored = async () => (await call<{ total: number }>('GET', '/workflows')).total
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	await name.fill('Second reminder')
	await chooseMore(page, 'Duplicate')
	await question.getByText('Your changes since then are lost').waitFor()
	t.is(await stored(), 1)
	await question.getByRole('button', { name: 'Cancel' }).click()
	await question.waitFor({ state: 'detached' })
	t.is(await name.inputValue(), 'Second reminder')
	await chooseMore(page, 'Duplicate')
	await question.getByRole('button', { name: 'Leave without saving' }).click()
	await page.getByRole('heading', { level: 1, name: 'First order (Copy)' }).waitFor()
	t.is(await question.count(), 0)
	t.is(await stored(), 2)

	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	t.is(await name.inputValue(), 'Reminder')
	await name.fill('Third reminder')
	await chooseMore(page, 'Delete')
	await question.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor()
	t.is(await question.count(), 0)
	t.is(await stored(), 1)
	t.deepEqual(faults, [])
})

for (const tab of ['Steps', 'People', 'Versions'])
	test(`a workflow is not asked for while it is being deleted at its tab ${tab}, nor afterwards`, async (t) => {
		const { page, open, firstOrder, faults } = await setupWorkflows(t)
		const { id, idOf } = await firstOrder()
		await page.clock.install()
		await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
		await page.getByLabel('Name', { exact: true }).fill('Second reminder')
		await page.getByRole('tab', { name: tab }).click()
		const deletion = Promise.withResolvers<() => Promise<void>>()
		const asked: string[] = []
		let isHeld = false
		await page.route(`**/workflows/${id}{,/**,?*}`, (route) => {
			if (isHeld) asked.push(route.request().url())
			if (route.request().method() !== 'DELETE') return route.continue()
			isHeld = true
			deletion.resolve(() => route.continue())
		})
		await chooseMore(page, 'Delete')
		const confirmation = page.getByRole('alertdialog').getByRole('button', { name: 'Delete' })
		await confirmation.waitFor()
		await page.clock.fastForward(20_000)
		await confirmation.click()
		const goOn = await deletion.promise
		await page.clock.fastForward(15_000)
		await goOn()
		await page.getByRole('heading', { name: 'No workflow yet' }).waitFor()
		t.deepEqual(asked, [])
		t.deepEqual(faults, [])
	})

test('unsaved changes of a workflow are saved after their writer has renamed and disabled it', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf, enable } = await firstOrder()
	await enable()
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	const name = page.getByLabel('Name', { exact: true })
	const question = page.getByRole('alertdialog')
	await name.fill('Second reminder')
	await rename(page, 'Second order')
	await page.getByRole('button', { name: 'Publish' }).click()
	await question.getByRole('button', { name: 'Publish' }).click()
	await page.getByText('Published. New people get version 2').waitFor()
	await name.fill('Third reminder')
	await page.getByRole('button', { name: 'Disable' }).click()
	await question.getByRole('button', { name: 'Disable' }).click()
	await page.getByText('Disabled. Nobody new enters').waitFor()
	await page.getByRole('button', { name: 'Save', exact: true }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const stored = await call<Stored>('GET', `/workflows/${id}`)
	t.like(stored, { name: 'Second order', enabled: false })
	t.true(stored.steps.some((step) => step.name === 'Third reminder'))
	t.deepEqual(faults, [])
})

/** Answers about the workflow wait from its next change on, until they are let through. */
async function holdReload(page: Page, workflowId: string) {
	const [asked, through] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
	let isChanged = false
	await page.route(`**/workflows/${workflowId}`, async (route) => {
		if (route.request().method() === 'PATCH') isChanged = true
		else if (isChanged) {
			asked.resolve()
			await through.promise
		}
		await route.continue()
	})
	return { asked: asked.promise, letThrough: through.resolve }
}

test('unsaved changes of a workflow can be saved only once a rename or a disabling by their writer is loaded', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf, enable } = await firstOrder()
	await enable()
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	const name = page.getByLabel('Name', { exact: true })
	const publish = page.getByRole('button', { name: 'Publish' })
	const question = page.getByRole('alertdialog')
	await name.fill('Second reminder')
	const renamed = await holdReload(page, id)
	await chooseMore(page, 'Rename')
	const dialog = page.getByRole('dialog', { name: 'Name and note' })
	await dialog.getByLabel('Name', { exact: true }).fill('Second order')
	await dialog.getByRole('button', { name: 'Save' }).click()
	await renamed.asked
	await page.keyboard.press('Escape')
	await dialog.waitFor({ state: 'detached' })
	t.true(await publish.isDisabled())
	renamed.letThrough()
	await publish.click()
	await question.getByRole('button', { name: 'Publish' }).click()
	await page.getByText('Published. New people get version 2').waitFor()

	await name.fill('Third reminder')
	const disabled = await holdReload(page, id)
	await page.getByRole('button', { name: 'Disable' }).click()
	await question.getByRole('button', { name: 'Disable' }).click()
	await disabled.asked
	t.true(await publish.isDisabled())
	disabled.letThrough()
	await page.getByRole('button', { name: 'Save', exact: true }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	const stored = await call<Stored>('GET', `/workflows/${id}`)
	t.true(stored.steps.some((step) => step.name === 'Third reminder'))
	t.deepEqual(faults, [])
})

test('renaming a workflow waits for a save by its writer, and what was typed meanwhile can be saved', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf } = await firstOrder()
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	const { name, save, sent, answer } = await holdSave(page)
	await name.fill('Second reminder')
	await save.click()
	await sent
	await name.fill('Third reminder')
	t.true(await page.getByRole('button', { name: 'Enable' }).isDisabled())
	await chooseMore(page, 'Rename')
	const dialog = page.getByRole('dialog', { name: 'Name and note' })
	await dialog.getByLabel('Name', { exact: true }).fill('Second order')
	await dialog.getByRole('button', { name: 'Save' }).click()
	await dialog.locator('[aria-busy=true]').waitFor()
	answer()
	await dialog.waitFor({ state: 'detached' })
	await save.click()
	await save.waitFor({ state: 'detached' })
	const stored = await call<Stored & { name: string }>('GET', `/workflows/${id}`)
	t.is(stored.name, 'Second order')
	t.true(stored.steps.some((step) => step.name === 'Third reminder'))
	t.deepEqual(faults, [])
})

test('a step that another person changed before a rename is not saved over without a word', async (t) => {
	const { page, open, call, firstOrder } = await setupWorkflows(t)
	const { id, idOf } = await firstOrder()
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	await page.getByLabel('Name', { exact: true }).fill('Second reminder')
	await call('PATCH', `/workflows/${id}/steps/${idOf('Bought')}`, { name: 'Has bought' })
	await rename(page, 'Second order')
	await page.getByRole('button', { name: 'Save', exact: true }).click()
	await page.getByText('This workflow has changed since you opened it').waitFor()
	const { steps } = await call<Stored>('GET', `/workflows/${id}`)
	t.true(steps.some(({ name }) => name === 'Has bought'))
	t.true(steps.some(({ name }) => name === 'Reminder'))
})

test('restoring a version says that unsaved changes are lost, and shows the restored steps', async (t) => {
	const { page, open, call, firstOrder, faults } = await setupWorkflows(t)
	const { id, idOf, enable } = await firstOrder()
	await enable()
	await call('PATCH', `/workflows/${id}/steps/${idOf('Reminder')}`, { name: 'Second reminder' })
	await open(`workflows/${id}?view=list&step=${idOf('Reminder')}`)
	await page.getByLabel('Name', { exact: true }).fill('Third reminder')
	await page.getByRole('tab', { name: 'Versions' }).click()
	await page.getByRole('button', { name: 'Show 1' }).click()
	await page.getByRole('button', { name: 'Restore version 1' }).click()
	const question = page.getByRole('alertdialog')
	await question.getByText('Your unsaved changes are lost.').waitFor()
	await question.getByRole('button', { name: 'Restore version 1' }).click()
	await page.getByText('New people get version 3.').waitFor()
	await picture(page)
		.getByRole('button', { name: /^Send email Reminder/ })
		.waitFor()
	t.is(await page.getByRole('button', { name: 'Discard changes' }).count(), 0)
	t.deepEqual(faults, [])
})
