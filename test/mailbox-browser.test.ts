import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { trackingKey } from '../mail/tracked-urls.ts'
import { openBrowser } from './helpers/browser.ts'
import { setupMailbox } from './helpers/mailbox.ts'

async function openMailbox(t: ExecutionContext, options: BrowserContextOptions = {}) {
	const tracking = { key: trackingKey('a secret'), campaignId: null }
	const all = await setupMailbox(t, tracking)
	await all.app.listen({ port: 0, host: '127.0.0.1' })
	const { port } = all.app.server.address() as { port: number }
	const url = `http://localhost:${port}/mailbox`
	const page = await openBrowser(t, options)
	const faults: string[] = []
	page.on('pageerror', ({ message }) => faults.push(message))
	page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
	const requests: string[] = []
	page.on('request', (request) => requests.push(request.url()))
	return {
		...all,
		url,
		page,
		faults,
		requests,
		item: (subject: string) =>
			page.locator('nav li').filter({ has: page.getByText(subject, { exact: true }) }),
		focused: () => page.evaluate('document.activeElement.textContent') as Promise<string>,
	}
}

const subjects = (page: Page) => page.locator('nav strong').allTextContents()

test('new mail appears in the list, which keeps search, focus, scroll and open mail', async (t) => {
	const { land, page, url, item, faults } = await openMailbox(t)
	for (let number = 1; number <= 30; number++) await land({ subject: `Sale ${number}` })
	await page.goto(url)
	await item('Sale 30').click()
	await page.locator('h2', { hasText: 'Sale 30' }).waitFor()
	await page.evaluate('window.isSamePage = true')
	await Promise.all([
		page.waitForResponse((response) => response.url().endsWith('?search=sale')),
		page.locator('input[type=search]').pressSequentially('sale'),
	])
	await page.evaluate(`document.querySelector('nav').scrollTop = 400`)
	const before = await item('Sale 15').boundingBox()
	await land({ subject: 'Sale 31' })
	await land({ subject: 'Nothing of the kind' })
	await item('Sale 31').waitFor({ state: 'attached' })
	// The browser moves the list back with its next frame.
	await page.evaluate(
		'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
	)

	t.is(await page.evaluate('window.isSamePage'), true)
	t.is(await page.locator('input[type=search]').inputValue(), 'sale')
	t.is(await page.locator('input[type=search]:focus').count(), 1)
	t.is(await page.locator('h2').textContent(), 'Sale 30')
	t.is(await page.locator('nav [aria-current] strong').textContent(), 'Sale 30')
	const shift = (await item('Sale 15').boundingBox())!.y - before!.y
	t.true(Math.abs(shift) < 1, `moved by ${shift} pixels`)
	const expected = Array.from({ length: 31 }, (_, index) => `Sale ${31 - index}`)
	t.deepEqual(await subjects(page), expected)
	t.deepEqual(faults, [])
})

test('reading a mail counts no open, loading its pixel and following a link does', async (t) => {
	const { land, page, url, item, requests } = await openMailbox(t)
	await page.context().route(/\/[oc]\//, (route) => route.fulfill({ body: '' }))
	await land({ subject: 'Sale', body: '<p><a href="https://shop.example/">Shop</a></p>' })
	await page.goto(url)
	await item('Sale').click()
	const mail = page.frameLocator('iframe')
	await mail.getByText('Shop').waitFor()
	// After this fetch of the list, the page has finished everything it does by itself.
	await page.waitForResponse((response) => response.url() === url)
	const tracked = () => requests.filter((address) => /\/[oc]\//.test(address)).length
	t.is(tracked(), 0)
	const pixel = page.waitForRequest(/\/o\//)
	await page.getByText('Load the tracking pixel').click()
	await pixel
	t.is(tracked(), 1)
	const followed = page.context().waitForEvent('request', (request) => /\/c\//.test(request.url()))
	await mail.getByText('Shop').click()
	t.is(new URL((await followed).url()).searchParams.get('to'), 'https://shop.example/')
})

test('the keyboard moves, opens, searches and deletes', async (t) => {
	const { land, page, url, focused, faults, messages } = await openMailbox(t)
	for (const subject of ['One', 'Two', 'Three']) await land({ subject })
	await page.goto(url)
	await page.keyboard.press('j')
	t.regex(await focused(), /Three/)
	await page.keyboard.press('j')
	await page.keyboard.press('j')
	await page.keyboard.press('j')
	t.regex(await focused(), /One/)
	await page.keyboard.press('k')
	await Promise.all([
		page.waitForResponse((response) => response.request().method() === 'PATCH'),
		page.keyboard.press('Enter'),
	])
	await page.locator('h2', { hasText: 'Two' }).waitFor()
	t.regex(await focused(), /Two/)
	t.is(
		await page
			.locator('nav a:focus')
			.evaluate('getComputedStyle(document.activeElement).outlineStyle'),
		'solid',
	)
	await page.keyboard.press('Delete')
	await page.locator('nav li').nth(2).waitFor({ state: 'detached' })
	t.deepEqual(await subjects(page), ['Three', 'One'])
	await page.locator('h2').waitFor({ state: 'detached' })
	t.regex(await focused(), /One/)
	await page.keyboard.press('/')
	await page.keyboard.type('jk')
	await page.getByText('No mail matches').waitFor()
	t.is((await messages()).length, 2)
	t.deepEqual(faults, [])
})

test('mails are marked as read when they are opened, and as unread again', async (t) => {
	const { land, page, url, item, messages } = await openMailbox(t)
	await land({ subject: 'One' })
	await land({ subject: 'Two' })
	await page.goto(url)
	await page.locator('.unread').nth(1).waitFor()
	// The change takes longer than the list is left alone.
	await page.route('**/mailbox/messages/*', async (route) => {
		await sleep(2500)
		await route.continue()
	})
	await Promise.all([
		page.waitForResponse((response) => response.request().method() === 'PATCH'),
		item('One').click(),
	])
	await page.unrouteAll()
	t.deepEqual(await page.locator('.unread strong').allTextContents(), ['Two'])
	t.deepEqual(
		(await messages()).map(({ read }) => read),
		[false, true],
	)
	await page.getByText('Mark as unread').click()
	await page.locator('.unread').nth(1).waitFor()
	await page.goBack()
	await page.getByText('Choose a mail').waitFor()
})

test('the mailbox is emptied after a question, and shows older mail when asked', async (t) => {
	const { land, page, url, pool, messages } = await openMailbox(t)
	await land({ subject: 'Newest' })
	await pool.query(
		`insert into mailbox_messages (id, project_id, email_id, "to", "from", subject, raw)
		select uuidv7(make_interval(secs => -number)), project_id, uuidv7(), "to", "from", 'Mail ' || number, raw
		from mailbox_messages, generate_series(1, 150) as number`,
	)
	await page.goto(url)
	await page.getByText('Older mail').click()
	await page.getByText('Mail 150', { exact: true }).waitFor()
	t.is((await subjects(page)).length, 151)
	await page.waitForResponse((response) => response.url() === url)
	t.is((await subjects(page)).length, 151)
	page.once('dialog', (dialog) => void dialog.dismiss())
	await page.getByText('Delete all').click()
	t.is((await messages('?limit=1')).length, 1)
	page.once('dialog', (dialog) => void dialog.accept())
	await page.getByText('Delete all').click()
	await page.getByText('No mail yet').waitFor()
	t.is((await messages()).length, 0)
})

test('on a phone the mail replaces the list, which returns afterwards', async (t) => {
	const { land, page, url, item, focused } = await openMailbox(t, {
		viewport: { width: 390, height: 800 },
	})
	const subject = `Long ${'word'.repeat(40)}`
	await land({ subject, body: `<p>${'x'.repeat(300)}</p>` })
	await page.goto(url)
	await item(subject).click()
	await page.locator('h2').waitFor()
	t.regex(await focused(), /^Long/)
	t.false(await item(subject).isVisible())
	t.is(await page.evaluate('document.documentElement.scrollWidth'), 390)
	await page.getByText('Back to the list').click()
	await item(subject).waitFor()
	t.is(await page.evaluate('document.documentElement.scrollWidth'), 390)
})

test('a mail is previewed in dark and in light, at the width of a phone', async (t) => {
	// null: the browser uses the page's scheme, without an emulated preference.
	const { land, page, url, item } = await openMailbox(t, { colorScheme: null })
	await land({ subject: 'Simple', body: '<p>Hello</p>' })
	await page.goto(url)
	await item('Simple').click()
	await page.frameLocator('iframe').getByText('Hello').waitFor()
	const textColour = () =>
		page.frames()[1]!.evaluate(`getComputedStyle(document.querySelector('.content')).color`)
	t.is(await textColour(), 'rgb(31, 35, 40)')
	await page.getByRole('button', { name: 'Dark' }).click()
	t.is(await textColour(), 'rgb(230, 232, 235)')
	await page.getByRole('button', { name: 'Phone width' }).click()
	t.is(await page.evaluate(`document.querySelector('iframe').clientWidth`), 390)
})

test('nothing in a mail runs, reaches the page or changes the mailbox', async (t) => {
	const { land, page, url, item, requests, messages } = await openMailbox(t)
	const body = `<p>Evil</p><script>parent.document.title = 'gone'</script>
		<img src="x" onerror="parent.document.title = 'gone'">
		<form action="/mailbox/messages" method="post"><button>Press</button></form>
		<a href="javascript:parent.document.title='gone'">Link</a>`
	await land({ subject: 'Evil', body })
	await page.goto(url)
	await item('Evil').click()
	const mail = page.frameLocator('iframe')
	await mail.getByText('Press').click()
	await mail.getByText('Link').click()
	await page.waitForResponse((response) => response.url() === url)
	t.is(await page.title(), 'Evil · Mailbox')
	t.is((await messages()).length, 1)
	t.false(requests.some((address) => address.endsWith('/mailbox/messages')))
})
