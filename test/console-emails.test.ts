import test, { type ExecutionContext } from 'ava'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { verifyDomain } from './helpers/send.ts'

const message = { from: 'hello@example.com', subject: 'Your receipt', body: '<p>Thank you</p>' }

async function setupEmails(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const all = await setupConsole(t, options)
	await verifyDomain(all.orm, all.project.id, 'example.com')
	const send = async (changes: object) => {
		const answer = await all.app.inject({
			method: 'POST',
			url: '/v1/send',
			headers: all.withSecretKey,
			payload: { ...message, ...changes },
		})
		t.is(answer.statusCode, 200, answer.body)
		return answer.json().data.emails[0].email as string
	}
	return { ...all, send }
}

test('mails are found by address, subject and status, and opened with the keyboard', async (t) => {
	const { page, open, send, home, faults } = await setupEmails(t)
	await send({ to: 'ann@example.org' })
	await send({ to: 'ben@example.org', subject: 'Reset your password' })
	await open('emails')
	const rows = page.getByRole('table', { name: 'Emails' }).getByRole('link')
	await rows.filter({ hasText: 'ann' }).waitFor()
	await page.keyboard.press('/')
	await page.keyboard.type('ben@example.org')
	// What is found for the first characters of it may be shown before.
	await page.waitForURL(`${home}/emails?search=ben%40example.org`)
	await rows.filter({ hasText: 'ann' }).waitFor({ state: 'detached' })
	await rows.filter({ hasText: 'ben' }).waitFor()
	t.deepEqual(await rows.allTextContents(), ['ben@example.org'])
	await page.getByRole('searchbox').fill('receipt')
	await rows.filter({ hasText: 'ann@example.org' }).waitFor()
	await page.getByLabel('Status').selectOption('Failed')
	await page.getByRole('heading', { name: 'No mail is like that' }).waitFor()
	await page.getByLabel('Status').selectOption('Any status')
	await rows.first().focus()
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 1, name: 'Your receipt' }).waitFor()
	t.deepEqual(faults, [])
})

test('a mail is shown as it goes, in a frame in which nothing of it runs', async (t) => {
	const { page, open, send, faults, home } = await setupEmails(t)
	await send({
		to: 'ann@example.org',
		body: `<p onclick="top.x=1">Thank you</p><script>top.document.title = 'taken'</script>
			<img src="https://pictures.example/a.png" onerror="top.document.title = 'taken'">`,
	})
	let loaded = 0
	await page.context().route('https://pictures.example/**', (route) => {
		loaded++
		return route.fulfill({ contentType: 'image/gif', body: '' })
	})
	await open('emails')
	await page.getByRole('link', { name: 'ann@example.org' }).click()
	await page.frameLocator('iframe[title=Mail]').getByText('Thank you').waitFor()
	await page.getByRole('tab', { name: 'Headers' }).click()
	await page.getByText('Subject: Your receipt').waitFor()
	await page.getByRole('tab', { name: 'Text' }).click()
	await page.getByLabel('text part').getByText('Thank you').waitFor()
	t.is(await page.title(), 'Your receipt – Tempost')
	t.is(loaded, 0)
	await page.getByRole('tab', { name: 'Mail' }).click()
	const picture = page.waitForResponse(/pictures\.example/)
	await page.getByRole('button', { name: 'Load images' }).click()
	await picture
	t.is(loaded, 1)
	t.true(page.url().startsWith(`${home}/emails/`))
	t.deepEqual(
		faults.filter((fault) => !/inline event handler .* has been blocked/s.test(fault)),
		[],
	)
})

test('a mail with malformed styles is shown without delay', async (t) => {
	const { page, open, send } = await setupEmails(t)
	const styles = [`url(${' '.repeat(60_000)}`, 'url(//'.repeat(100_000), "url(' //"]
	await send({
		to: 'ann@example.org',
		body: `<style>${styles.join('\n')}</style><p>Thank you</p>`,
	})
	await open('emails')
	await page.getByRole('link', { name: 'ann@example.org' }).click()
	const shown = page.frameLocator('iframe[title=Mail]').getByText('Thank you')
	// Reading each address to the end of the text took 79 seconds.
	await shown.waitFor()
	t.true(await shown.isVisible())
})

test('a scheduled mail is moved and cancelled after a question, on a phone', async (t) => {
	const { page, open, send, faults, app, withSecretKey } = await setupEmails(t, {
		browser: { viewport: phone },
	})
	const id = await send({
		to: 'ann@example.org',
		delivery: { at: new Date(Date.now() + 86_400_000).toISOString() },
	})
	const record = async () =>
		(await app.inject({ url: `/emails/${id}`, headers: withSecretKey })).json()
	await open(`emails/${id}`)
	const before = (await record()).scheduledFor
	await page.getByRole('button', { name: 'Move' }).click()
	await page.getByLabel('New time').fill('')
	await page.getByRole('button', { name: 'Move', exact: true }).last().click()
	await page.getByRole('alert').getByText('Choose a day and a time').waitFor()
	await page.getByLabel('New time').fill('2020-01-01T10:00')
	await page.getByRole('button', { name: 'Move', exact: true }).last().click()
	await page.getByRole('alert').getByText('This time is in the past').waitFor()
	t.like(await record(), { status: 'SCHEDULED', scheduledFor: before })
	const at = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16)
	await page.getByLabel('New time').fill(at)
	await page.getByRole('button', { name: 'Move', exact: true }).last().click()
	await page.getByText('The mail is moved').waitFor()
	t.true((await record()).scheduledFor > before)
	await page.getByRole('button', { name: 'Cancel the mail' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the mail' }).click()
	await page.getByText('The mail is cancelled').waitFor()
	t.is((await record()).status, 'CANCELLED')
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.deepEqual(faults, [])
})

test('a mail leads to its template, to its contact, and to all mail of that contact', async (t) => {
	const { app, withSecretKey, page, open, send, home, faults } = await setupEmails(t)
	const template = await app.inject({
		method: 'POST',
		url: '/templates',
		headers: withSecretKey,
		payload: { ...message, name: 'Receipt', type: 'TRANSACTIONAL' },
	})
	const id = await send({ to: 'ann@example.org', template: template.json().id })
	await open(`emails/${id}`)
	await page.getByRole('link', { name: 'its template' }).click()
	await page.waitForURL(`${home}/templates/${template.json().id}`)
	await open(`emails/${id}`)
	await page.getByRole('link', { name: 'Show the contact' }).click()
	await page.getByRole('heading', { level: 1, name: 'ann@example.org' }).waitFor()
	await open(`emails/${id}`)
	await page.getByRole('link', { name: 'All mail to this person' }).click()
	await page.getByRole('main').getByRole('button', { name: 'ann@example.org' }).click()
	await page.waitForURL(`${home}/emails`)
	t.deepEqual(faults, [])
})

test('the ages of mails move on while the page stays open', async (t) => {
	const { page, open, send } = await setupEmails(t)
	await send({ to: 'ann@example.org' })
	await page.clock.install()
	await open('emails')
	await page.getByText(/sec\.? ago|now/).waitFor()
	await page.clock.fastForward('03:00')
	await page.getByText(/3 min\.? ago/).waitFor()
	t.pass()
})

test('a mail that was held back says why, and leads to the address in the list', async (t) => {
	const { app, withSecretKey: headers, pool, page, open, send, home, faults } = await setupEmails(t)
	const payload = { email: 'ann@example.org', reason: 'BOUNCE' }
	await app.inject({ method: 'POST', url: '/suppressions', headers, payload })
	const id = await send({ to: 'ann@example.org' })
	await pool.query(
		`update emails set status = 'SUPPRESSED', error = 'The address is on the suppression list: BOUNCE'`,
	)
	await open(`emails/${id}`)
	await page.getByText('The address is on the suppression list: Bounced').waitFor()
	await page.getByRole('link', { name: 'Look for the address in the list' }).click()
	await page.waitForURL(`${home}/settings/suppressions?search=ann%40example.org`)
	await page.getByRole('button', { name: 'Remove ann@example.org' }).waitFor()
	t.deepEqual(faults, [])
})

test('a mail that cannot be found says so, with the id of the request', async (t) => {
	const { page, open } = await setupEmails(t)
	await open('emails/01a20a88-5c46-719e-ae5e-36813d9c49b3')
	await page.getByRole('alert').getByText('Request').waitFor()
	await page.getByText('It may be deleted, or the address may be old.').waitFor()
	await page.getByRole('button', { name: 'Try again' }).waitFor()
	t.pass()
})

test('the pages of mails have no barrier', async (t) => {
	const { page, open, send, faults } = await setupEmails(t)
	const id = await send({ to: 'ann@example.org' })
	for (const path of ['emails', `emails/${id}`]) {
		await open(path)
		await page.getByText('ann@example.org').first().waitFor()
		t.deepEqual(await barriersOf(page), [], path)
	}
	t.deepEqual(faults, [])
})

test('days are typed into the filters key by key, and asked for once their year is whole', async (t) => {
	const { page, open, home, faults } = await setupEmails(t)
	const asked: string[] = []
	page.on('request', (request) => {
		const from = new URL(request.url()).searchParams.get('from')
		if (from) asked.push(from)
	})
	await open('emails')
	const since = page.getByLabel('Since')
	await since.focus()
	// Slower than the pause after which a day is asked for.
	await page.keyboard.type('12052026', { delay: 350 })
	await page.waitForURL(`${home}/emails?from=2026-12-05`)
	t.is(await since.inputValue(), '2026-12-05')
	await page.getByRole('heading', { name: 'No mail is like that' }).waitFor()
	t.deepEqual([...new Set(asked)], [new Date('2026-12-05T00:00:00').toISOString()])
	await page.getByRole('link', { name: 'Emails', exact: true }).click()
	await page.getByRole('heading', { name: 'No mail yet' }).waitFor()
	t.is(await since.inputValue(), '')
	t.deepEqual(faults, [])
})

test('a message that cannot be downloaded says why', async (t) => {
	const { page, open, send } = await setupEmails(t)
	const id = await send({ to: 'ann@example.org' })
	await open(`emails/${id}`)
	await page.route('**/source', (route) => route.abort())
	await page.getByRole('button', { name: 'Download the whole message' }).click()
	await page.getByRole('alert').getByText('Check your connection').waitFor()
	t.pass()
})
