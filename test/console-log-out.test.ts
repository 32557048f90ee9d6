import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { asksBeforeUnload, faultsOf, setupConsole } from './helpers/console.ts'
import { isInMemory } from './helpers/page-memory.ts'
import { addMember, createUser, password } from './helpers/people.ts'

const address = 'quentin.unmistakable@example.net'

async function setupReader(t: ExecutionContext) {
	const all = await setupConsole(t)
	const { app, page, withSecretKey: headers } = all
	const payload = { email: address }
	const made = await app.inject({ method: 'POST', url: '/contacts', headers, payload })
	t.is(made.statusCode, 201)
	return {
		...all,
		async writeTemplate(on: Page = page) {
			await on.goto(`${all.home}/templates/new`)
			await on.getByLabel('Subject').fill('Secret plans')
			await until(on, "JSON.stringify(sessionStorage).includes('Secret plans')")
		},
	}
}

/** The policy of the page allows no `waitForFunction`. */
const until = (page: Page, condition: string) =>
	page.evaluate(`new Promise((done, fail) => {
		const look = () => (${condition} ? done() : setTimeout(look, 10))
		look()
		setTimeout(() => fail(JSON.stringify(sessionStorage)), 20_000)
	})`)

async function logOut(page: Page) {
	await page.getByRole('button', { name: 'Account' }).click()
	await page.getByRole('menuitem', { name: 'Log out' }).click()
}

/** The names of all that the browser remembers. Where pages were scrolled to has no addresses. */
async function remembered(page: Page) {
	const names = await page.evaluate<string[]>(
		'[...Object.keys(localStorage), ...Object.keys(sessionStorage)]',
	)
	return names.filter((name) => !name.startsWith('tsr-scroll-restoration'))
}

test('a log-out leaves nothing in the browser but the colours', async (t) => {
	const { page, open, writeTemplate, faults } = await setupReader(t)
	const asked = new Set<string>()
	page.on('request', (request) => {
		if (request.method() === 'GET' && ['xhr', 'fetch'].includes(request.resourceType()))
			asked.add(request.url())
	})
	await open('contacts')
	await page.evaluate("localStorage.setItem('tempost.theme', 'dark')")
	await page.getByText(address).waitFor()
	t.true(await isInMemory(page, address))
	await writeTemplate()
	await logOut(page)
	const question = page.getByRole('alertdialog')
	await question.getByRole('button', { name: 'Cancel' }).click()
	await question.waitFor({ state: 'detached' })
	t.is(await page.getByLabel('Subject').inputValue(), 'Secret plans')
	await logOut(page)
	await question.getByRole('button', { name: 'Log out without saving' }).click()
	await page.getByRole('heading', { name: 'Log in' }).waitFor()

	t.deepEqual(await remembered(page), ['tempost.theme'])
	t.true([...asked].some((url) => url.includes('/contacts')))
	for (const url of asked) {
		const options = "{ cache: 'only-if-cached', mode: 'same-origin' }"
		const kept = `fetch('${url}', ${options}).then((answer) => answer.ok, () => false)`
		t.false(await page.evaluate(kept), url)
	}
	t.false(await isInMemory(page, address))
	t.false(await isInMemory(page, 'Secret plans'))
	await page.goBack()
	await page.getByRole('heading', { name: 'Log in' }).waitFor()
	t.false(await isInMemory(page, address))
	t.deepEqual(
		faults.filter((fault) => !/ERR_CACHE_MISS|504|401/.test(fault)),
		[],
	)
})

test('a log-out ends the visit in the other tabs, too', async (t) => {
	const { page, open, writeTemplate } = await setupReader(t)
	await open('')
	const other = await page.context().newPage()
	const faults = faultsOf(other)
	await writeTemplate(other)
	await logOut(page)
	await other.getByRole('heading', { name: 'Log in' }).waitFor()
	t.deepEqual(await remembered(other), [])
	t.deepEqual(
		faults.filter((fault) => !fault.includes('401')),
		[],
	)
})

test('a draft of an ended session is not shown to the next person', async (t) => {
	const { app, orm, pool, page, project, writeTemplate, home } = await setupReader(t)
	const { user } = await createUser(app, orm, 'ben@example.org')
	await addMember(orm, project, user, 'ADMIN')
	await writeTemplate()
	t.true(await asksBeforeUnload(page))
	// An open page would notice the end of its session, and go to the log-in by itself.
	await page.goto('about:blank')
	await pool.query('delete from sessions')
	await page.goto(`${home}/templates/new`)
	await page.getByLabel('Email address').fill('ben@example.org')
	t.true((await page.evaluate<string>('JSON.stringify(sessionStorage)')).includes('Secret plans'))
	await page.getByLabel('Password').fill(password)
	await page.getByRole('button', { name: 'Log in' }).click()
	await page.getByRole('heading', { level: 1, name: 'New template' }).waitFor()
	t.not(await page.getByLabel('Subject').inputValue(), 'Secret plans')
	t.false((await page.evaluate<string>('JSON.stringify(sessionStorage)')).includes('Secret'))
})

test('a page that asks again gets what has not changed without its body', async (t) => {
	const { page, open, faults } = await setupReader(t)
	const again = page.waitForResponse(
		(response) => /\/emails\?/.test(response.url()) && response.status() === 304,
	)
	await open('emails')
	const answer = await again
	t.is((await answer.allHeaders())['cache-control'], 'no-store')
	await page.getByText('No mail').waitFor()
	t.deepEqual(faults, [])
})
