import test, { type ExecutionContext } from 'ava'
import { trackingKey } from '../mail/tracked-urls.ts'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { landingIn } from './helpers/mailbox.ts'
import { sendingFrom } from './helpers/send.ts'

async function setupMailbox(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const tracking = { key: trackingKey('a secret'), campaignId: null }
	const all = landingIn(t, await sendingFrom(t, await setupConsole(t, options)), tracking)
	const list = all.page.getByRole('list', { name: 'Mails' })
	return {
		...all,
		list,
		item: (subject: string) => list.getByRole('link').filter({ hasText: subject }),
		subjects: () => list.locator('strong').allTextContents(),
		act: (name: string) =>
			all.page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click(),
		marks: async () => (await all.messages()).map(({ read }) => read),
	}
}

test('new mail appears by itself, beside the search and the open mail', async (t) => {
	const { page, open, land, item, subjects, faults, home } = await setupMailbox(t)
	await land({ subject: 'Sale 1' })
	await open('mailbox')
	await page.keyboard.press('/')
	await page.keyboard.type('sale')
	await page.waitForURL(`${home}/mailbox?search=sale`)
	await item('Sale 1').click()
	await page.getByRole('heading', { level: 2, name: 'Sale 1' }).waitFor()
	await land({ subject: 'Nothing of the kind' })
	await land({ subject: 'Sale 2' })
	await item('Sale 2').waitFor()
	t.deepEqual(await subjects(), ['Sale 2', 'Sale 1'])
	t.is(await page.getByRole('heading', { level: 2 }).textContent(), 'Sale 1')
	t.is(await page.getByRole('searchbox').inputValue(), 'sale')
	t.deepEqual(faults, [])
})

test('a mail is read once it is opened, and unread again when asked', async (t) => {
	const { page, open, land, item, list, marks, faults } = await setupMailbox(t)
	await land({ subject: 'One' })
	await land({ subject: 'Two' })
	await open('mailbox')
	await list.getByText('Unread.').nth(1).waitFor({ state: 'attached' })
	await item('One').click()
	await item('One').getByText('Unread.').waitFor({ state: 'detached' })
	t.deepEqual(await marks(), [false, true])
	await page.getByRole('button', { name: 'Mark as unread' }).click()
	await item('One').getByText('Unread.').waitFor({ state: 'attached' })
	t.deepEqual(await marks(), [false, false])
	t.deepEqual(faults, [])
})

test('the keyboard moves through the mails, opens one, and deletes after a question', async (t) => {
	const { page, open, land, item, subjects, act, faults } = await setupMailbox(t)
	for (const subject of ['One', 'Two', 'Three']) await land({ subject })
	await open('mailbox')
	const focused = () => page.evaluate<string>('document.activeElement.textContent')
	await item('Three').waitFor()
	await page.keyboard.press('j')
	t.regex(await focused(), /Three/)
	await page.keyboard.press('ArrowUp')
	t.is(await page.evaluate('document.activeElement.type'), 'search')
	await page.keyboard.press('ArrowDown')
	t.regex(await focused(), /Three/)
	await page.keyboard.press('j')
	t.regex(await focused(), /Two/)
	await page.keyboard.press('ArrowDown')
	await page.keyboard.press('k')
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 2, name: 'Two' }).waitFor()
	await page.keyboard.press('Delete')
	await act('Delete the mail')
	await item('Two').waitFor({ state: 'detached' })
	t.deepEqual(await subjects(), ['Three', 'One'])
	await page.getByText('Choose a mail to read it').waitFor()
	t.deepEqual(faults, [])
})

test('reading a mail counts no open, loading its pixel and following a link does', async (t) => {
	const { page, open, land, item, faults } = await setupMailbox(t)
	const tracked: string[] = []
	await page.context().route(/:3000\/[oc]\//, (route) => {
		tracked.push(new URL(route.request().url()).pathname.slice(0, 3))
		return route.fulfill({ contentType: 'image/gif', body: '' })
	})
	await land({ subject: 'Sale', body: '<p><a href="https://shop.example/">Shop</a></p>' })
	await open('mailbox')
	await item('Sale').click()
	const mail = page.frameLocator('iframe[title=Mail]')
	await mail.getByText('Shop').waitFor()
	await page.getByText('Reading here does not count as an open.').waitFor()
	t.deepEqual(tracked, [])
	const pixel = page.waitForResponse(/\/o\//)
	await page.getByRole('button', { name: 'Load the tracking pixel' }).click()
	await pixel
	t.deepEqual(tracked, ['/o/'])
	const followed = page.context().waitForEvent('response', (answer) => /\/c\//.test(answer.url()))
	await mail.getByText('Shop').click()
	await followed
	t.deepEqual(tracked, ['/o/', '/c/'])
	t.deepEqual(faults, [])
})

test('a mail shows its text, headers, source and files, and leads to the ledger', async (t) => {
	const { page, open, land, home, faults } = await setupMailbox(t)
	const file = { filename: 'März.pdf', content: 'JVBERg==', contentType: 'application/pdf' }
	const { id, mail } = await land({ body: '<p>Thank you</p>', attachments: [file] })
	await open(`mailbox/${id}`)
	await page.getByRole('tab', { name: 'Text' }).click()
	await page.getByLabel('text part').getByText('Thank you').waitFor()
	await page.getByRole('tab', { name: 'Headers' }).click()
	await page.getByLabel('headers').getByText(`X-Tempost-Id: ${mail.id}`).waitFor()
	await page.getByRole('tab', { name: 'Source' }).click()
	await page.getByLabel('source').getByText('Content-Type: multipart/mixed').waitFor()
	const download = page.waitForEvent('download')
	await page.getByRole('link', { name: 'März.pdf' }).click()
	t.is((await download).suggestedFilename(), 'März.pdf')
	await page.getByRole('link', { name: 'All that happened to it' }).click()
	await page.waitForURL(`${home}/emails/${mail.id}`)
	t.deepEqual(faults, [])
})

test('the mailbox is emptied after a question with a count, and shows older mail when asked', async (t) => {
	const { page, open, land, pool, subjects, act, messages, faults } = await setupMailbox(t)
	await land({ subject: 'Newest' })
	await pool.query(
		`insert into mailbox_messages (id, project_id, email_id, "to", "from", subject, raw)
		select uuidv7(make_interval(secs => -number)), project_id, uuidv7(), "to", "from", 'Mail ' || number, raw
		from mailbox_messages, generate_series(1, 150) as number`,
	)
	await open('mailbox')
	await page.getByRole('button', { name: 'Older mail' }).click()
	await page.getByText('Mail 150', { exact: true }).waitFor()
	t.is((await subjects()).length, 151)
	await page.getByRole('button', { name: 'Delete all' }).click()
	await page.getByText('This deletes 151 mails').waitFor()
	await act('Cancel')
	await page.getByRole('alertdialog').waitFor({ state: 'detached' })
	t.is((await messages('?limit=1')).length, 1)
	await page.getByRole('button', { name: 'Delete all' }).click()
	await act('Delete all')
	await page.getByRole('heading', { name: 'No mail yet' }).waitFor()
	t.is((await messages()).length, 0)
	t.deepEqual(faults, [])
})

test('on a phone the mail takes the place of the list, which returns afterwards', async (t) => {
	const { page, open, land, item, faults } = await setupMailbox(t, {
		browser: { viewport: phone },
	})
	const subject = `Long ${'word'.repeat(40)}`
	await land({ subject, body: `<p>${'x'.repeat(300)}</p>` })
	await open('mailbox')
	await item(subject).click()
	await page.getByRole('heading', { level: 2, name: subject }).waitFor()
	t.false(await item(subject).isVisible())
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await page.getByRole('link', { name: 'Back to the list' }).click()
	await item(subject).waitFor()
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.deepEqual(faults, [])
})

test('with a real mail provider there is no mailbox in the navigation', async (t) => {
	const { page, open, faults } = await setupConsole(t, {
		setup: { settings: { emailProvider: 'smtp' } },
	})
	await open('')
	await page.getByRole('link', { name: 'Settings' }).waitFor()
	t.is(await page.getByRole('link', { name: 'Mailbox' }).count(), 0)
	await open('mailbox')
	await page.getByRole('heading', { name: 'There is no local mailbox here' }).waitFor()
	t.deepEqual(faults, [])
})

test('the mailbox has no barrier', async (t) => {
	const { page, open, land, item, faults } = await setupMailbox(t)
	await open('mailbox')
	await page.getByRole('heading', { name: 'No mail yet' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	await land({ subject: 'Sale' })
	await item('Sale').click()
	await page.frameLocator('iframe[title=Mail]').getByText('Hello').waitFor()
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})
