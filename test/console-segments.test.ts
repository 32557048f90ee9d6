import test, { type ExecutionContext } from 'ava'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { plan } from './helpers/segments.ts'

async function setupSegments(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const all = await setupConsole(t, options)
	const { app, withSecretKey: headers } = all
	const call = async (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) => {
		const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
		t.true(answer.statusCode < 300, answer.body)
		return answer.json()
	}
	for (const [name, of] of [
		['ann', 'pro'],
		['ben', 'free'],
	])
		await call('POST', '/contacts', { email: `${name}@example.org`, data: { plan: of } })
	return { ...all, call }
}

test('segments are listed with their conditions, counts and kinds, and opened', async (t) => {
	const { page, open, call, faults } = await setupSegments(t)
	await open('segments')
	await page.getByRole('heading', { name: 'No segment yet' }).waitFor()
	await call('POST', '/segments', { name: 'Pro', condition: plan('pro') })
	await call('POST', '/segments', { name: 'VIP', type: 'STATIC', description: 'We know them' })
	await open('segments')
	const rows = page.getByRole('table', { name: 'Segments' }).getByRole('row')
	await rows.filter({ hasText: 'We know them' }).waitFor()
	const [, vip, pro] = await rows.allTextContents()
	t.regex(vip!, /^VIP.*By hand.*0$/)
	t.regex(pro!, /^Pro.*plan is pro.*By condition.*1$/)
	await page.getByLabel('Kind').selectOption('By condition')
	await rows.filter({ hasText: 'VIP' }).waitFor({ state: 'detached' })
	t.deepEqual(await barriersOf(page), [])
	await rows.getByRole('link', { name: 'Pro' }).click()
	await page.getByRole('heading', { level: 1, name: 'Pro' }).waitFor()
	await page.getByRole('table', { name: 'Members' }).getByText('ann@example.org').waitFor()
	t.deepEqual(await barriersOf(page), [])
	await call('POST', '/contacts', { email: 'cem@example.org', data: { plan: 'pro' } })
	await page.getByRole('button', { name: 'Count again' }).click()
	await page.getByText('2 contacts').waitFor()
	t.deepEqual(faults, [])
})

test('members are added and removed by hand, and removing is undone, on a phone', async (t) => {
	const { page, open, call, faults } = await setupSegments(t, { browser: { viewport: phone } })
	const { id } = await call('POST', '/segments', { name: 'VIP', type: 'STATIC' })
	const members = async () => (await call('GET', `/segments/${id}/contacts`)).data.length
	await open(`segments/${id}`)
	await page.getByRole('button', { name: 'Add members' }).last().click()
	await page.getByLabel('Addresses').fill('ann@example.org, ben@example.org\nzoe@example.org')
	await page.getByRole('button', { name: 'Add', exact: true }).click()
	await page.getByText('1 address belongs to no contact: zoe@example.org').waitFor()
	await page.keyboard.press('Escape')
	t.is(await members(), 2)
	await page.getByLabel('Choose ben@example.org').check()
	await page.getByRole('button', { name: 'Remove 1 contact' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Remove 1 contact' }).click()
	await page.getByLabel('Choose ben@example.org').waitFor({ state: 'detached' })
	t.is(await members(), 1)
	await page.getByRole('button', { name: 'Undo' }).click()
	await page.getByLabel('Choose ben@example.org').waitFor()
	t.is(await members(), 2)
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.deepEqual(faults, [])
})

test('a tracked segment is computed, and says who joined and when', async (t) => {
	const { page, open, call, faults } = await setupSegments(t)
	const body = { name: 'Pro', trackMembership: true, condition: plan('pro') }
	const { id } = await call('POST', '/segments', body)
	await open(`segments/${id}`)
	await page.getByText('Being computed').waitFor()
	await page.getByRole('button', { name: 'Compute now' }).click()
	await page.getByText('1 contact: 1 joined, 0 left').waitFor()
	await page.getByText('Being computed').waitFor({ state: 'detached' })
	t.truthy((await call('GET', `/segments/${id}`)).computedAt)
	t.deepEqual(faults, [])
})

test('a segment in use is not deleted, and its uses are named with links', async (t) => {
	const { page, open, call } = await setupSegments(t)
	const { id } = await call('POST', '/segments', { name: 'Pro', condition: plan('pro') })
	const user = {
		name: 'Pros too',
		condition: {
			logic: 'AND',
			groups: [{ filters: [{ field: `segment.${id}`, operator: 'memberOfSegment' }] }],
		},
	}
	await call('POST', '/segments', user)
	await open(`segments/${id}`)
	await page.getByRole('link', { name: 'Pros too' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('alertdialog').getByText('The contacts in it (1) stay').waitFor()
	await page.getByRole('button', { name: 'Delete the segment' }).click()
	await page.getByRole('alert').getByText('This segment is in use').waitFor()
	await page.getByRole('dialog').getByRole('link', { name: 'Pros too' }).click()
	await page.getByRole('heading', { level: 1, name: 'Pros too' }).waitFor()
	await page.getByText('Nothing', { exact: true }).waitFor()
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('button', { name: 'Delete the segment' }).click()
	await page.getByText('The segment Pros too is deleted').waitFor()
	t.is((await call('GET', '/segments')).length, 1)
})

test('a circle of segments is refused at its filter', async (t) => {
	const { page, open, call } = await setupSegments(t)
	const { id } = await call('POST', '/segments', { name: 'One', condition: plan('pro') })
	const field = `segment.${id}`
	const condition = {
		logic: 'AND',
		groups: [{ filters: [{ field, operator: 'memberOfSegment' }] }],
	}
	await call('POST', '/segments', { name: 'Two', condition })
	await open(`segments/${id}/edit`)
	await page.getByLabel('Field: plan').click()
	await page.getByLabel('Search fields').fill('two')
	await page.getByRole('option', { name: 'segment Two' }).click()
	await page.getByRole('button', { name: 'Save' }).click()
	await page
		.getByRole('group', { name: 'Filter on' })
		.getByText('names a segment that itself depends on this one')
		.waitFor()
	t.pass()
})

test('saving a segment leaves what somebody else has changed meanwhile', async (t) => {
	const { page, open, call } = await setupSegments(t)
	const { id } = await call('POST', '/segments', { name: 'Pro', condition: plan('pro') })
	await open(`segments/${id}/edit`)
	await page.getByLabel('Name').fill('Payers')
	const theirs = { description: 'Theirs', condition: plan('free') }
	await call('PATCH', `/segments/${id}`, theirs)
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByRole('heading', { level: 1, name: 'Payers' }).waitFor()
	t.like(await call('GET', `/segments/${id}`), { name: 'Payers', ...theirs })
})

test('a renamed segment says which workflows name its old events', async (t) => {
	const { page, open, call } = await setupSegments(t)
	const body = { name: 'Pro', trackMembership: true, condition: plan('pro') }
	const { id } = await call('POST', '/segments', body)
	const triggerConfig = { eventName: 'segment.pro.entry' }
	await call('POST', '/workflows', { name: 'Welcome', triggerType: 'EVENT', triggerConfig })
	await open(`segments/${id}/edit`)
	await page.getByLabel('Name').fill('Payers')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('The workflow "Welcome" names the events of "Pro"').waitFor()
	await page.getByRole('button', { name: 'To the segment' }).click()
	await page.getByRole('heading', { level: 1, name: 'Payers' }).waitFor()
	t.pass()
})

test('on a phone the count stays in view while the condition is being built', async (t) => {
	const viewport = { ...phone, height: 600 }
	const { page, open, faults } = await setupSegments(t, { browser: { viewport } })
	await open('segments/new')
	await page.getByLabel('Field: choose a field').focus()
	await page.keyboard.press('Enter')
	// Letters that are typed before the list has opened are not for it.
	await page.getByLabel('Search fields').and(page.locator(':focus')).waitFor()
	await page.keyboard.type('plan')
	await page.keyboard.press('Enter')
	const filter = page.getByRole('group', { name: 'Filter on plan' })
	await filter.getByLabel('Value', { exact: true }).fill('pro')
	const count = page.getByRole('region', { name: 'Preview' }).getByText('1 contact')
	await count.waitFor()
	const { y, height } = (await count.boundingBox())!
	t.true(y > 0 && y + height <= viewport.height, `at ${y}`)
	const sample = await page.getByRole('list', { name: 'Sample of ten' }).boundingBox()
	t.true(sample!.y > viewport.height, `the sample is at ${sample!.y}`)
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})

test('leaving a form that was filled in asks first; saving and Cancel do not', async (t) => {
	const { page, open, faults } = await setupSegments(t)
	const question = page.getByRole('alertdialog').getByText('What you have filled in is lost.')
	const leave = () =>
		page.getByRole('navigation').getByRole('link', { name: 'Templates' }).first().click()
	await open('segments/new')
	await page.getByLabel('Name', { exact: true }).fill('By hand')
	await page.getByLabel('Its contacts are chosen').selectOption('By hand')
	await leave()
	await question.waitFor()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
	await page.getByRole('button', { name: 'Create the segment' }).click()
	await page.getByRole('heading', { level: 1, name: 'By hand' }).waitFor()

	await open('segments/new')
	await page.getByRole('button', { name: 'Create the segment' }).click()
	await page.getByRole('alert').getByText('Complete the condition first').waitFor()
	await page.getByLabel('Its contacts are chosen').selectOption('By hand')
	await page.getByRole('alert').waitFor({ state: 'detached' })
	await leave()
	await question.waitFor()
	await page.getByRole('button', { name: 'Leave without saving' }).click()
	await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()

	await open('segments/new')
	await page.getByLabel('Name', { exact: true }).fill('Not wanted')
	await page.getByRole('button', { name: 'Cancel' }).click()
	await page.getByRole('heading', { level: 1, name: 'Segments' }).waitFor()

	await open('settings')
	await page.getByLabel('Name', { exact: true }).fill('Renamed')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Name and language are saved').waitFor()
	await leave()
	await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
	t.is(await question.count(), 0)
	t.deepEqual(faults, [])
})

test('nothing can be typed into a form while it is saved, and the cursor is there again after a refusal', async (t) => {
	const { page, open, faults } = await setupSegments(t)
	let answers: ((isRefused: boolean) => void)[] = []
	await page.route('**/segments', async (route) => {
		if (route.request().method() !== 'POST') return route.continue()
		const { promise, resolve } = Promise.withResolvers<boolean>()
		answers = [...answers, resolve]
		return (await promise) ? route.abort() : route.continue()
	})
	const save = async () => {
		const asked = page.waitForRequest(
			(request) => request.method() === 'POST' && request.url().endsWith('/segments'),
		)
		await page.keyboard.press('Enter')
		await asked
		await page.locator('[aria-busy=true]').waitFor()
		await page.keyboard.type(' and more')
	}
	await open('segments/new')
	const name = page.getByLabel('Name', { exact: true })
	await page.getByLabel('Its contacts are chosen').selectOption('By hand')
	await name.fill('VIP')
	await save()
	t.is(await name.inputValue(), 'VIP')
	answers[0]!(true)
	await page.getByRole('alert').waitFor()
	await page.keyboard.type('s')
	t.is(await name.inputValue(), 'VIPs')
	await save()
	answers[1]!(false)
	await page.getByRole('heading', { level: 1, name: 'VIPs', exact: true }).waitFor()
	t.deepEqual(
		faults.filter((fault) => !fault.includes('ERR_FAILED')),
		[],
	)
})
