import test, { type ExecutionContext } from 'ava'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { delayStep, freeze } from './helpers/executions.ts'
import { jobRunner } from './helpers/jobs.ts'
import { plan } from './helpers/segments.ts'
import { verifyDomain } from './helpers/send.ts'

async function setupContacts(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const all = await setupConsole(t, options)
	const { app, page, withSecretKey: headers } = all
	const { run } = jobRunner(all)
	const call = async (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) => {
		const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
		t.true(answer.statusCode < 300, answer.body)
		return answer.json()
	}
	const add = (name: string, data: object = {}) =>
		call('POST', '/contacts', { email: `${name}@example.org`, data })
	/** Does the work of the job that the page follows. */
	const runJob = async () => {
		await page.waitForURL(/[?&]job=/)
		await run(new URL(page.url()).searchParams.get('job')!)
	}
	return { ...all, call, add, run, runJob }
}

test('contacts are searched, filtered by a condition that is part of the address, and opened', async (t) => {
	const { page, open, add, faults } = await setupContacts(t)
	await open('contacts')
	await page.getByRole('heading', { name: 'No contact yet' }).waitFor()
	await add('ann', { plan: 'pro' })
	await add('ben', { plan: 'free' })
	await add('cem', { plan: 'pro' })
	await open('contacts')
	const people = page.getByRole('table', { name: 'Contacts' }).getByRole('link')
	await page.getByText('3 contacts').waitFor()
	await page.keyboard.press('/')
	await page.keyboard.type('ann')
	await people.filter({ hasText: 'cem' }).waitFor({ state: 'detached' })
	await page.getByRole('searchbox').fill('')
	await people.filter({ hasText: 'cem' }).waitFor()
	await page.getByRole('button', { name: 'Add a condition' }).click()
	await page.getByLabel('Field: choose a field').click()
	await page.keyboard.press('Escape')
	await page.getByLabel('Field: choose a field').click()
	await page.getByLabel('Search fields').fill('plan')
	await page.getByRole('option', { name: 'plan', exact: true }).click()
	await page.getByLabel('Value', { exact: true }).fill('pro')
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Show these contacts' }).click()
	await page.getByText('2 contacts').waitFor()
	t.deepEqual(await people.allTextContents(), ['cem@example.org', 'ann@example.org'])
	await page.reload()
	await page.getByRole('button', { name: 'Where plan is pro' }).waitFor()
	await page.getByText('2 contacts').waitFor()
	await people.first().focus()
	await page.keyboard.press('ArrowDown')
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 1, name: 'ann@example.org' }).waitFor()
	t.deepEqual(faults, [])
})

test('the columns are chosen from the data, and remembered', async (t) => {
	const { page, open, add } = await setupContacts(t)
	await add('ann', { plan: 'pro', city: 'Bath', age: 40 })
	await open('contacts')
	const heads = page.getByRole('columnheader')
	await heads.filter({ hasText: 'age' }).waitFor()
	await page.getByRole('button', { name: 'Columns' }).click()
	await page.getByLabel('age', { exact: true }).uncheck()
	await page.getByLabel('plan').check()
	await page.keyboard.press('Escape')
	await page.reload()
	await page.getByRole('cell', { name: 'pro' }).waitFor()
	t.deepEqual(
		(await heads.allTextContents()).filter((head) => ['age', 'plan', 'city'].includes(head)),
		['city', 'plan'],
	)
})

test('a bulk change asks with its count, is followed to its end, and is undone', async (t) => {
	const { page, open, add, call, run, runJob, faults } = await setupContacts(t)
	for (const name of ['ann', 'ben', 'cem']) await add(name)
	const subscribed = async () => (await call('GET', '/contacts?subscribed=true')).total
	await open('contacts')
	await page.getByLabel('Choose ann@example.org').check()
	await page.getByLabel('Choose ben@example.org').check()
	await page.getByRole('button', { name: 'Unsubscribe' }).click()
	await page.getByRole('button', { name: 'Unsubscribe 2 contacts' }).click()
	await page.getByText('Contacts are being unsubscribed').waitFor()
	t.deepEqual(await barriersOf(page), [])
	await runJob()
	await page.getByText('2 unsubscribed').waitFor()
	t.is(await subscribed(), 1)
	const first = page.url()
	await page.getByRole('button', { name: 'Undo' }).click()
	await page.waitForURL((url) => url.href !== first)
	await run(new URL(page.url()).searchParams.get('job')!)
	await page.getByText('2 subscribed').waitFor()
	t.is(await subscribed(), 3)
	t.deepEqual(faults, [])
})

test('the undo of a bulk change leaves out people who have left by themselves meanwhile', async (t) => {
	const { app, page, open, add, call, run, runJob } = await setupContacts(t)
	const { id } = await add('ann')
	await add('ben')
	await open('contacts')
	await page.getByLabel('Choose ann@example.org').check()
	await page.getByLabel('Choose ben@example.org').check()
	await page.getByRole('button', { name: 'Unsubscribe' }).click()
	await page.getByRole('button', { name: 'Unsubscribe 2 contacts' }).click()
	await runJob()
	await page.getByText('2 unsubscribed').waitFor()
	await app.inject({ method: 'POST', url: `/unsubscribe/${id}` })
	const first = page.url()
	await page.getByRole('button', { name: 'Undo' }).click()
	await page.waitForURL((url) => url.href !== first)
	await run(new URL(page.url()).searchParams.get('job')!)
	await page.getByText('1 subscribed, 1 unchanged').waitFor()
	const { data } = await call('GET', '/contacts?subscribed=true')
	t.deepEqual(
		data.map(({ email }: { email: string }) => email),
		['ben@example.org'],
	)
})

test('a bulk change is not undone for people who had changed it themselves', async (t) => {
	const { page, open, add, call, runJob } = await setupContacts(t)
	const { id } = await add('ann')
	await add('ben')
	await open('contacts')
	await page.getByLabel('Choose ann@example.org').check()
	await page.getByLabel('Choose ben@example.org').check()
	// The list does not know of it.
	await call('PATCH', `/contacts/${id}`, { subscribed: false })
	await page.getByRole('button', { name: 'Unsubscribe' }).click()
	await page.getByRole('button', { name: 'Unsubscribe 2 contacts' }).click()
	await runJob()
	await page.getByText('1 unsubscribed, 1 unchanged').waitFor()
	await page.getByRole('button', { name: 'Close' }).waitFor()
	t.is(await page.getByRole('button', { name: 'Undo' }).count(), 0)
})

test('a condition on a field of yes and no begins without a choice', async (t) => {
	const { page, open, add } = await setupContacts(t)
	await add('ann', { vip: true })
	await add('ben', { vip: false })
	await open('contacts')
	await page.getByRole('button', { name: 'Add a condition' }).click()
	await page.getByLabel('Field: choose a field').click()
	await page.getByRole('option', { name: 'vip', exact: true }).click()
	const value = page.getByLabel('Value', { exact: true })
	t.is(await value.inputValue(), '')
	await value.selectOption('yes')
	await page.getByRole('button', { name: 'Show these contacts' }).click()
	await page.getByText('1 contact', { exact: true }).waitFor()
})

test('the form of one contact is not shown under another', async (t) => {
	const { page, open, add } = await setupContacts(t)
	await add('ann')
	const { id } = await add('ben')
	await open(`contacts/${id}`)
	const title = (name: string) => page.getByRole('heading', { level: 1, name })
	await title('ben@example.org').waitFor()
	await page.getByRole('link', { name: 'Contacts' }).first().click()
	await page.getByRole('link', { name: 'ann@example.org' }).click()
	await title('ann@example.org').waitFor()
	await page.getByRole('button', { name: 'Edit' }).click()
	await page.getByLabel('Email address').fill('ben@example.org')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByRole('link', { name: 'Open the other contact' }).click()
	await page.getByRole('button', { name: 'Leave without saving' }).click()
	await title('ben@example.org').waitFor()
	t.is(await page.getByLabel('Email address').count(), 0)
})

test('all contacts that match are deleted, except those that were taken out, on a phone', async (t) => {
	const { page, open, add, call, runJob, faults } = await setupContacts(t, {
		browser: { viewport: phone },
	})
	for (const name of ['ann', 'anton', 'ben', 'anja']) await add(name)
	await open('contacts?search=an')
	await page.getByText('3 contacts').waitFor()
	await page.getByRole('button', { name: 'Choose all' }).click()
	await page.getByLabel('Choose anja@example.org').uncheck()
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('button', { name: 'Delete 2 contacts' }).click()
	await runJob()
	await page.getByText('2 deleted').waitFor()
	const left = (await call('GET', '/contacts?sort=email&dir=asc')).data
	t.deepEqual(
		left.map(({ email }: { email: string }) => email),
		['anja@example.org', 'ben@example.org'],
	)
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.deepEqual(faults, [])
})

test('all that match another filter are not deleted before they are counted', async (t) => {
	const { page, open, add, faults } = await setupContacts(t)
	for (const name of ['ann', 'anton', 'ben']) await add(name)
	await open('contacts?search=ben')
	await page.getByText('1 contact', { exact: true }).waitFor()
	const counted = Promise.withResolvers<void>()
	await page.route('**/contacts/query', async (route) => {
		await counted.promise
		await route.continue()
	})
	await page.getByRole('searchbox').fill('')
	await page.waitForURL((url) => !url.search.includes('ben'))
	await page.getByRole('button', { name: 'Choose all' }).click()
	const remove = page.getByRole('button', { name: 'Delete' })
	t.true(await remove.isDisabled())
	counted.resolve()
	await page.getByText('3 chosen').waitFor()
	await remove.click()
	await page.getByRole('button', { name: 'Delete 3 contacts' }).waitFor()
	t.deepEqual(faults, [])
})

test('a job that has not begun is cancelled', async (t) => {
	const { page, open, add, call } = await setupContacts(t)
	await add('ann')
	await open('contacts')
	await page.getByRole('button', { name: 'Choose all' }).click()
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('button', { name: 'Delete 1 contact' }).click()
	await page.getByRole('button', { name: 'Cancel the rest' }).click()
	await page.getByRole('button', { name: 'Close' }).waitFor()
	t.is((await call('GET', '/contacts')).total, 1)
})

test('a contact is added with typed data, edited, and its faults are shown at their fields', async (t) => {
	const { page, open, add, call, faults } = await setupContacts(t)
	await add('ben')
	await open('contacts/new')
	await page.getByRole('button', { name: 'Add the contact' }).click()
	const fault = page.locator('[aria-invalid="true"]')
	await fault.first().waitFor()
	await page.getByText('is required').or(page.getByText('must be')).first().waitFor()
	await page.getByRole('button', { name: 'Add the contact' }).and(page.locator(':focus')).waitFor()
	await page.getByLabel('Email address').fill('Ann@example.org')
	t.is(await fault.count(), 0)
	await page.getByLabel('Language').selectOption('German')
	await page.getByRole('button', { name: 'Add a field' }).click()
	await page.getByLabel('Field', { exact: true }).fill('visits')
	await page.getByLabel('Type').selectOption('Number')
	await page.getByLabel('Value', { exact: true }).fill('12')
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Add the contact' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann@example.org' }).waitFor()
	const id = page.url().split('/').at(-1)!
	t.like(await call('GET', `/contacts/${id}`), {
		subscribed: true,
		data: { locale: 'de', visits: 12 },
	})
	await open('contacts/new')
	await page.getByLabel('Email address').fill('ann@example.org')
	await page.getByLabel('Subscribed').uncheck()
	await page.getByRole('button', { name: 'Add the contact' }).click()
	await page.getByText('Its data will be updated, and it will be unsubscribed.').waitFor()
	await page.getByRole('button', { name: 'Update the contact' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann@example.org' }).waitFor()
	await page.getByText('Unsubscribed', { exact: true }).first().waitFor()
	await page.getByRole('button', { name: 'Edit' }).click()
	await page.getByLabel('Email address').fill('ben@example.org')
	await page.getByRole('button', { name: 'Remove visits' }).click()
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Another contact has this email address').waitFor()
	await page.getByRole('link', { name: 'Open the other contact' }).waitFor()
	await page.getByLabel('Email address').fill('ann.a@example.org')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann.a@example.org' }).waitFor()
	t.deepEqual((await call('GET', `/contacts/${id}`)).data, { locale: 'de' })
	t.deepEqual(
		faults.filter((fault) => !/400|409|422/.test(fault)),
		[],
	)
})

test('editing a contact leaves its other data as they are', async (t) => {
	const { page, open, add, call, faults } = await setupContacts(t)
	const data = { note: ' with spaces ', visits: 1 }
	const { id } = await add('ann', data)
	await open(`contacts/${id}`)
	await page.getByRole('button', { name: 'Edit' }).click()
	await page.getByLabel('Email address').fill('ann.a@example.org')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann.a@example.org' }).waitFor()
	t.deepEqual((await call('GET', `/contacts/${id}`)).data, data)
	t.deepEqual(faults, [])
})

test('lines of a value stay lines when it is edited', async (t) => {
	const { page, open, add, call, faults } = await setupContacts(t)
	const { id } = await add('ann', { address: 'Main St 1\n1234 City' })
	await open(`contacts/${id}`)
	await page.getByRole('button', { name: 'Edit' }).click()
	const value = page.getByRole('group', { name: 'address' }).getByLabel('Value')
	await value.press('Control+End')
	await page.keyboard.type(' West')
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Save' }).click()
	await value.waitFor({ state: 'detached' })
	t.deepEqual((await call('GET', `/contacts/${id}`)).data, {
		address: 'Main St 1\n1234 City West',
	})
	t.deepEqual(faults, [])
})

test('leaving a new contact asks, whether a button changed it or its saving was declined', async (t) => {
	const { page, open, add, call, home, faults } = await setupContacts(t)
	const { id } = await add('ann', { plan: 'pro' })
	await open('contacts/new')
	await page.getByRole('button', { name: 'Add a field' }).click()
	const contacts = page.getByRole('link', { name: 'Contacts' }).first()
	const question = page.getByRole('alertdialog')
	await contacts.click()
	await question.getByText('What you have filled in is lost.').waitFor()
	await question.getByRole('button', { name: 'Cancel' }).click()
	await question.waitFor({ state: 'detached' })
	await page.getByLabel('Email address').fill('ann@example.org')
	await page.getByRole('button', { name: 'Add the contact' }).click()
	await question.getByRole('button', { name: 'Cancel' }).click()
	await question.waitFor({ state: 'detached' })
	await page.getByText('Nothing was saved.').waitFor()
	await contacts.click()
	await question.getByRole('button', { name: 'Leave without saving' }).click()
	await page.waitForURL(`${home}/contacts`)
	t.deepEqual((await call('GET', `/contacts/${id}`)).data, { plan: 'pro' })
	t.deepEqual(faults, [])
})

test('the history of a person merges what happened, and deleting says what it does', async (t) => {
	const { page, open, add, call, faults, orm, pool, project } = await setupContacts(t)
	const { id } = await add('ann')
	await verifyDomain(orm, project.id, 'example.com')
	await freeze(pool, project.id, '', { on: 'order', steps: [delayStep(1, 'days')] })
	const mail = { from: 'hello@example.com', subject: 'Your receipt', body: '<p>Thank you</p>' }
	await call('POST', '/v1/send', { ...mail, to: 'ann@example.org' })
	const track = { email: 'ann@example.org', event: 'order', data: { total: 30 } }
	await call('POST', '/events/track', track)
	await call('PATCH', `/contacts/${id}`, { subscribed: false })
	await open(`contacts/${id}`)
	const history = page.getByRole('region', { name: 'History' })
	await history.getByText('The contact was created').waitFor()
	const [last, ...earlier] = await history.getByRole('listitem').locator('p').allTextContents()
	t.is(last, 'Unsubscribed')
	t.is(earlier.pop(), 'The contact was created')
	// The event and the start that it caused are of one moment.
	t.deepEqual(earlier.toSorted(), ['Event order', 'Workflow started'])
	await history.getByText('total: 30').waitFor()
	await history.getByRole('link', { name: 'Welcome' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('tab', { name: 'Events' }).click()
	await history.getByText('{"total":30}').waitFor()
	await call('POST', '/events/track', { ...track, data: { total: 31 } })
	await history.getByText('{"total":31}').waitFor()
	t.regex(page.url(), /show=events$/)
	await page.getByRole('tab', { name: 'Workflows' }).click()
	await history.getByRole('link', { name: 'Welcome' }).waitFor()
	await page.getByRole('tab', { name: 'Mails' }).click()
	await history.getByRole('link', { name: 'Your receipt' }).waitFor()
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByText('1 workflow execution will end. 1 mail to this person will stay').waitFor()
	await page.getByLabel('Erase the person everywhere').check()
	await page.getByRole('button', { name: 'Erase the person' }).click()
	await page.getByRole('heading', { name: 'No contact yet' }).waitFor()
	t.deepEqual(faults, [])
})

test('a contact is not asked for while it is being deleted', async (t) => {
	const { page, open, add, faults } = await setupContacts(t)
	const { id } = await add('ann')
	await page.clock.install()
	await open(`contacts/${id}`)
	const deletion = Promise.withResolvers<() => Promise<void>>()
	const asked: string[] = []
	let isHeld = false
	await page.route(`**/contacts/${id}*`, (route) => {
		if (isHeld) asked.push(route.request().url())
		if (route.request().method() !== 'DELETE') return route.continue()
		isHeld = true
		deletion.resolve(() => route.continue())
	})
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByText('This cannot be undone').waitFor()
	await page.clock.fastForward(20_000)
	await page.getByRole('button', { name: 'Delete the contact' }).click()
	const goOn = await deletion.promise
	// Past every interval of the page, but well before the client gives up after 30 s.
	await page.clock.fastForward(11_000)
	await goOn()
	await page.getByRole('heading', { name: 'No contact yet' }).waitFor()
	t.deepEqual(asked, [])
	t.deepEqual(faults, [])
})

test('a field that is used is kept, and one that is not is deleted from all contacts', async (t) => {
	const { page, open, add, call, faults } = await setupContacts(t)
	const { id } = await add('ann', { plan: 'pro', city: 'Bath' })
	await call('POST', '/segments', { name: 'Pros', condition: plan('pro') })
	await open('contacts/fields')
	const rows = page.getByRole('table', { name: 'Fields' }).getByRole('row')
	await rows.filter({ hasText: 'plan' }).getByRole('button').click()
	await page.getByText('A field that is used').waitFor()
	await page.getByRole('dialog').getByRole('link', { name: 'Pros' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	await page.keyboard.press('Escape')
	await rows.filter({ hasText: 'city' }).getByRole('button').click()
	await page.getByRole('button', { name: 'Delete the field' }).click()
	await page.getByText('1 contact will lose it').waitFor()
	// The message lasts five seconds, and a click can take as long on a busy machine.
	await Promise.all([
		page.getByText('city is deleted from 1 contact').waitFor(),
		page.getByRole('alertdialog').getByRole('button', { name: 'Delete the field' }).click(),
	])
	t.deepEqual((await call('GET', `/contacts/${id}`)).data, { plan: 'pro' })
	t.deepEqual(faults, [])
})

test('when the session ends, a form that is filled in is kept until leaving it is confirmed', async (t) => {
	const { page, open, add } = await setupContacts(t)
	const { id } = await add('ann')
	await page.clock.install()
	await open(`contacts/${id}`)
	await page.getByRole('button', { name: 'Edit' }).click()
	const email = page.getByLabel('Email address')
	await email.press('End')
	await email.pressSequentially('.uk')
	const cookies = await page.context().cookies()
	await page.context().clearCookies()
	const question = page.getByRole('alertdialog')
	const asksAgain = async () => {
		const answer = page.waitForResponse((response) => response.url().endsWith(`/contacts/${id}`))
		await page.clock.fastForward(30_000)
		return (await answer).status()
	}
	t.is(await asksAgain(), 401)
	await question.getByText('What you have filled in is lost').waitFor()
	// The question stays one.
	t.is(await asksAgain(), 401)
	await question.getByRole('button', { name: 'Cancel' }).click()
	await question.waitFor({ state: 'detached' })
	// It is not put again with each answer.
	for (let times = 0; times < 2; times++) t.is(await asksAgain(), 401)
	t.is(await question.count(), 0)
	// Logged in again, in another tab.
	await page.context().addCookies(cookies)
	t.is(await asksAgain(), 200)
	t.is(await email.inputValue(), 'ann@example.org.uk')

	await page.context().clearCookies()
	t.is(await asksAgain(), 401)
	await question.getByRole('button', { name: 'Leave without saving' }).click()
	await page.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('a contact whose mails cannot be counted says so before it is deleted', async (t) => {
	const { page, open, add } = await setupContacts(t)
	const { id } = await add('ann')
	await open(`contacts/${id}`)
	await page.route('**/executions?*', (route) => route.abort())
	await page.getByRole('button', { name: 'Delete' }).click()
	const fault = page.getByRole('dialog').getByRole('alert')
	await fault.getByText('Check your connection').waitFor()
	t.is(await page.getByText('Counting mails').count(), 0)
	await page.unroute('**/executions?*')
	await fault.getByRole('button', { name: 'Try again' }).click()
	await page.getByRole('dialog').getByText('This cannot be undone').waitFor()
	t.is(await fault.count(), 0)
})
