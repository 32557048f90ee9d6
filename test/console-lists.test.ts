import test from 'ava'
import { setupWorkflows } from './helpers/console-workflows.ts'

test('in every list with a search, the arrow keys lead from it to the rows and back', async (t) => {
	const { page, open, call, workflow, faults } = await setupWorkflows(t)
	for (const name of ['ann', 'ben']) {
		const email = `${name}@example.org`
		await call('POST', '/contacts', { email, data: { plan: 'pro', [name]: 1 } })
		await call('POST', '/suppressions', { email: `no-${email}` })
		await call('POST', '/segments', { name: `Friends of ${name}`, type: 'STATIC' })
		await call('POST', '/campaigns', {
			name: `News for ${name}`,
			subject: 'News',
			body: '<p>News</p>',
			from: 'hello@example.com',
			audienceType: 'ALL',
		})
		const mail = { to: email, from: 'hello@example.com', subject: 'Hi', body: '<p>Hi</p>' }
		await call('POST', '/v1/send', mail)
		await workflow(`Path of ${name}`, [], [])
	}
	const focused = () =>
		page.evaluate<string>(
			'document.activeElement.closest("[role=row], li")?.textContent ?? document.activeElement.type',
		)
	/** Whose row it is: columns may come later, and ages move on. */
	const owner = async () => (await focused()).match(/ann|ben|Welcome/)?.[0]
	for (const [path, rows, name] of [
		['emails', 'table', 'Emails'],
		['contacts', 'table', 'Contacts'],
		['contacts/fields', 'table', 'Fields'],
		['segments', 'table', 'Segments'],
		['campaigns', 'table', 'Campaigns'],
		['workflows', 'table', 'Workflows'],
		['templates', 'list', 'Templates'],
		['settings/suppressions', 'table', 'Suppressed addresses'],
	] as const) {
		await open(path)
		const list = page.getByRole(rows, { name })
		await list.waitFor()
		await page.keyboard.press('/')
		await page.keyboard.press('ArrowDown')
		const first = await owner()
		t.truthy(first, path)
		if (path !== 'templates') {
			await page.keyboard.press('ArrowDown')
			const second = await owner()
			t.regex(second ?? '', /ann|ben/, path)
			t.not(second, first, path)
			await page.keyboard.press('ArrowUp')
			t.is(await owner(), first, path)
		}
		await page.keyboard.press('ArrowUp')
		t.is(await focused(), 'search', path)
	}
	t.deepEqual(faults, [])
})

test('a key typed while the address changes stays in the search', async (t) => {
	const { page, open, call, faults } = await setupWorkflows(t)
	for (const name of ['eve', 'eveline'])
		await call('POST', '/contacts', { email: `${name}@example.org`, data: {} })
	await open('contacts')
	await page.getByRole('table', { name: 'Contacts' }).waitFor()
	// The next letters come after the search was put into the address, and before the page has read it there.
	await page.evaluate(`{
		const replace = history.replaceState
		history.replaceState = function (...given) {
			replace.apply(this, given)
			if (!String(given[2]).endsWith('search=eve')) return
			const box = document.querySelector('input[type=search]')
			const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
			setValue.call(box, 'eveline')
			box.dispatchEvent(new Event('input', { bubbles: true }))
		}
	}`)
	await page.getByRole('searchbox').fill('eve')
	await page.waitForURL('**/contacts?search=eveline')
	await page.getByText('eve@example.org').waitFor({ state: 'detached' })
	await page.getByText('eveline@example.org').waitFor()
	t.is(await page.getByRole('searchbox').inputValue(), 'eveline')
	t.deepEqual(faults, [])
})
