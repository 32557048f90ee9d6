import test from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium } from './helpers/chromium.ts'
import { barriersOf, builtConsole, phone, setupConsole } from './helpers/console.ts'
import { addContactsAlike } from './helpers/contacts-alike.ts'
import { password } from './helpers/people.ts'

test('a person logs in with a password, and is led to the page that was asked for', async (t) => {
	const { page, home, faults } = await setupConsole(t)
	await page.context().clearCookies()
	await page.goto(`${home}/emails?status=SENT`)
	await page.getByLabel('Email address').fill('ann@example.org')
	await page.getByLabel('Password').fill('wrong')
	await page.getByRole('button', { name: 'Log in' }).click()
	await page.getByRole('alert').getByText('Address and password do not match').waitFor()
	await page.getByLabel('Password').fill(password)
	await page.getByRole('button', { name: 'Log in' }).click()
	await page.getByRole('heading', { name: 'Emails' }).waitFor()
	t.is(page.url(), `${home}/emails?status=SENT`)
	t.deepEqual(
		faults.filter((fault) => !fault.includes('401')),
		[],
	)
})

test('`/` and `/console` lead to the project, and log-out ends the session', async (t) => {
	const { page, origin, home, project, faults } = await setupConsole(t)
	for (const path of ['/', '/console']) {
		await page.goto(`${origin}${path}`)
		await page.getByRole('heading', { level: 1, name: project.name }).waitFor()
		t.is(page.url(), home)
	}
	// What the page still asks for when its session ends is refused.
	await page.waitForLoadState('networkidle')
	await page.getByRole('button', { name: 'Account' }).click()
	await page.getByRole('menuitem', { name: 'Log out' }).click()
	await page.getByRole('heading', { name: 'Log in' }).waitFor()
	t.deepEqual(faults, [])
	for (const path of [home, `${origin}/console`]) {
		await page.goto(path)
		await page.getByRole('heading', { name: 'Log in' }).waitFor()
	}
})

test('a page asks for nothing more when its session ends, and goes on if that fails', async (t) => {
	const { page, open, faults } = await setupConsole(t)
	await open('')
	await page.waitForLoadState('networkidle')
	const asked: string[] = []
	const isOfPage = (url: string) => !url.includes('/console/') && !url.endsWith('/auth/logout')
	const ending = Promise.withResolvers<void>()
	await page.route('**/auth/logout', async (route) => {
		page.on('request', (request) => isOfPage(request.url()) && asked.push(request.url()))
		await ending.promise
		await route.abort()
	})
	await page.getByRole('button', { name: 'Account' }).click()
	await page.getByRole('menuitem', { name: 'Log out' }).click()
	await page.waitForTimeout(6000)
	t.deepEqual(asked, [])
	ending.resolve()
	await page.waitForRequest((request) => isOfPage(request.url()))
	t.deepEqual(
		faults.filter((fault) => !fault.includes('ERR_FAILED')),
		[],
	)
})

test('the keyboard goes to pages, finds records in the command palette and closes it', async (t) => {
	const { page, open, faults, app, withSecretKey: headers } = await setupConsole(t)
	for (const [url, payload] of Object.entries({
		'/contacts': { email: 'ann.hall@example.org' },
		'/segments': { name: 'Halls', type: 'STATIC' },
	}))
		t.is((await app.inject({ method: 'POST', url, headers, payload })).statusCode, 201)
	await open('')
	await page.keyboard.press('g')
	await page.keyboard.press('e')
	await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor()
	await page.keyboard.press('Control+k')
	await page.getByRole('combobox', { name: 'Go to or do' }).fill('sta')
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 2, name: 'Send a first mail' }).waitFor()
	await page.keyboard.press('Control+k')
	await page.getByRole('combobox', { name: 'Go to or do' }).fill('new camp')
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
	await page.keyboard.press('Control+k')
	await page.getByRole('combobox', { name: 'Go to or do' }).fill('hall')
	const found = page.getByRole('listbox', { name: 'Pages, acts and records' })
	await found.getByRole('option', { name: 'ann.hall@example.org Contact' }).waitFor()
	await found.getByRole('option', { name: 'Halls Segment' }).waitFor()
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 1, name: 'ann.hall@example.org' }).waitFor()
	const last = page.getByRole('link', { name: 'Contacts' }).last()
	await last.focus()
	await page.keyboard.press('Control+k')
	await page.keyboard.press('Escape')
	await page.getByRole('combobox', { name: 'Go to or do' }).waitFor({ state: 'detached' })
	await page.locator('a:focus').filter({ hasText: 'Contacts' }).waitFor()
	t.deepEqual(faults, [])
})

test('the command palette finds a contact by the whole address, though many contain it', async (t) => {
	const { page, open, pool, project, faults } = await setupConsole(t)
	await addContactsAlike(pool, project.id, 'ann@example.org')
	await open('')
	await page.keyboard.press('Control+k')
	await page.getByRole('combobox', { name: 'Go to or do' }).fill('ann@example.org')
	const found = page.getByRole('listbox', { name: 'Pages, acts and records' })
	await found.getByRole('option', { name: /^ann@example.org Contact/ }).waitFor()
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 1, name: 'ann@example.org', exact: true }).waitFor()
	t.deepEqual(faults, [])
})

test('the arrow keys keep the chosen command in sight', async (t) => {
	const { page, open } = await setupConsole(t, {
		browser: { viewport: { width: 1280, height: 400 } },
	})
	await open('')
	await page.keyboard.press('Control+k')
	const list = page.getByRole('listbox', { name: 'Pages, acts and records' })
	await list.waitFor()
	const options = list.getByRole('option')
	for (let place = 1; place < (await options.count()); place++)
		await page.keyboard.press('ArrowDown')
	await list.getByRole('option', { name: 'API description', selected: true }).waitFor()
	const bottomOf = async (part: typeof list) => {
		const { y, height } = (await part.boundingBox())!
		return y + height
	}
	t.true((await bottomOf(options.last())) <= (await bottomOf(list)))
})

test('a page that cannot be loaded says so inside the console, and can be tried again', async (t) => {
	const { page, open } = await setupConsole(t)
	await open('emails')
	await page.context().setOffline(true)
	await page.keyboard.press('g')
	await page.keyboard.press('t')
	await page.getByRole('alert').getByText('This page cannot be loaded').waitFor()
	t.true(await page.getByRole('navigation').getByRole('link', { name: 'Templates' }).isVisible())
	await page.context().setOffline(false)
	await page.getByRole('button', { name: 'Try again' }).click()
	await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
})

test('colours follow the choice of the reader, and stay', async (t) => {
	const { page, open } = await setupConsole(t, { browser: { colorScheme: 'light' } })
	await open('')
	const background = () =>
		page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
	const light = await background()
	await page.getByRole('button', { name: 'Account' }).click()
	await page.getByRole('menuitem', { name: 'Dark' }).click()
	const dark = await background()
	t.not(dark, light)
	await page.reload()
	t.is(await background(), dark)
})

test('a phone shows one page at a time, and the navigation over it when asked', async (t) => {
	const { page, open, faults } = await setupConsole(t, { browser: { viewport: phone } })
	await open('')
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.false(await page.getByRole('link', { name: 'Emails' }).isVisible())
	await page.getByRole('button', { name: 'Navigation' }).click()
	await page.getByRole('link', { name: 'Emails' }).click()
	await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor()
	t.false(await page.getByRole('link', { name: 'Start' }).isVisible())
	t.deepEqual(faults, [])
})

test('the first pages have no barrier', async (t) => {
	const { page, open, origin } = await setupConsole(t)
	for (const path of ['', 'emails']) {
		await open(path)
		t.deepEqual(await barriersOf(page), [], path)
	}
	await page.goto(`${origin}/console/log-in`)
	await page.getByRole('heading', { name: 'Log in' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
})

test('the first page loads at most 200 KB', async (t) => {
	const { page, open } = await setupConsole(t)
	const folder = await builtConsole()
	const assets = new Set<string>()
	page.on('request', (request) => {
		const asset = /\/console\/(assets\/.+)$/.exec(request.url())?.[1]
		if (asset) assets.add(asset)
	})
	await open('')
	await page.waitForLoadState('networkidle')
	const bytes = [...assets].map((asset) => readFileSync(join(folder, `${asset}.gz`)).length)
	const sum = bytes.reduce((all, one) => all + one, 0)
	t.true(
		assets.size >= 2 && assets.size <= 10 && sum <= 200_000,
		`${sum} bytes in ${assets.size} files`,
	)
})

test('a dialog puts the focus in its first field, and gives it back at its end', async (t) => {
	const { page, open } = await setupConsole(t, { role: 'ADMIN' })
	const isFocused = page.locator(':focus')
	for (const [path, name] of [
		['domains', 'Add domain'],
		['settings/suppressions', 'Add an address'],
		['workflows', 'New workflow'],
	] as const) {
		await open(path)
		const button = page.getByRole('button', { name }).first()
		await button.focus()
		await page.keyboard.press('Enter')
		await page.getByRole('dialog').getByRole('textbox').first().and(isFocused).waitFor()
		await page.keyboard.press('Escape')
		await page.getByRole('dialog').waitFor({ state: 'detached' })
		await button.and(isFocused).waitFor()
	}
	t.pass()
})

test('a dialog darkens the page to its edges, and nothing moves where scroll bars take room', async (t) => {
	const { page: hidden, home } = await setupConsole(t)
	const browser = await launchChromium({ hasScrollBars: true })
	t.teardown(() => browser.close())
	const viewport = { width: 1000, height: 500 }
	const context = await browser.newContext({ viewport })
	await context.addCookies(await hidden.context().cookies())
	const [page, painter] = [await context.newPage(), await context.newPage()]
	const edge = () => page.evaluate("document.querySelector('main').getBoundingClientRect().right")
	const colourAt = async (x: number) => {
		const png = await page.screenshot({ clip: { x, y: 250, width: 1, height: 1 } })
		return painter.evaluate<number[]>(`(async () => {
			const answer = await fetch('data:image/png;base64,${png.toString('base64')}')
			const canvas = new OffscreenCanvas(1, 1).getContext('2d')
			canvas.drawImage(await createImageBitmap(await answer.blob()), 0, 0)
			return [...canvas.getImageData(0, 0, 1, 1).data]
		})()`)
	}
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme })
		await page.goto(`${home}/settings`)
		await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
		const before = await edge()
		t.true((before as number) < viewport.width, 'a scroll bar takes room')
		await page.keyboard.press('Control+k')
		await page.getByRole('dialog').waitFor()
		await page.locator('body[style*="overflow"]').waitFor()
		t.is(await edge(), before)
		const [room, veiled] = [await colourAt(viewport.width - 5), await colourAt(viewport.width - 25)]
		const difference = Math.max(...room.map((value, at) => Math.abs(value - veiled[at]!)))
		t.true(difference <= 1, `${room.join()} beside ${veiled.join()}, ${colorScheme}`)
	}
})
