import test from 'ava'
import { setupConsole } from './helpers/console.ts'
import { isInMemory } from './helpers/page-memory.ts'

test('replaced keys stop working, and the new secret key is shown once, and then not even kept in memory', async (t) => {
	const { app, page, open, home, withSecretKey, project, faults } = await setupConsole(t)
	await open('settings/keys')
	await page.getByRole('button', { name: 'Replace both keys' }).click()
	const question = page.getByRole('alertdialog')
	await question.getByText(`sk_…${withSecretKey.authorization.slice(-4)}`).waitFor()
	await question.getByRole('button', { name: 'Replace both keys' }).click()
	const shown = page.getByLabel('secret key').locator('code')
	const key = (await shown.textContent())!
	t.regex(key, /^sk_/)
	const statusWith = async (authorization: string) =>
		(await app.inject({ url: '/contacts', headers: { authorization } })).statusCode
	t.is(await statusWith(withSecretKey.authorization), 401)
	t.is(await statusWith(`Bearer ${key}`), 200)
	t.true(await isInMemory(page, key))
	await page.getByRole('button', { name: 'I have kept it' }).click()
	await shown.waitFor({ state: 'detached' })
	await page.getByText(`sk_…${key.slice(-4)}`).waitFor()
	await page.getByRole('link', { name: 'General' }).click()
	await page.getByText(project.id).waitFor()
	await page.getByRole('link', { name: 'Start' }).click()
	await page.waitForURL(home)
	await page.getByRole('heading', { level: 1 }).waitFor()
	t.false(await isInMemory(page, key))
	t.deepEqual(faults, [])
})

test('the secret of webhook steps is shown only when asked for, and changed after a question', async (t) => {
	const { page, open, faults } = await setupConsole(t, { role: 'ADMIN' })
	const answers: string[] = []
	page.on('request', (request) => answers.push(new URL(request.url()).pathname))
	await open('settings/keys')
	await page.getByRole('button', { name: 'Show the secret' }).waitFor()
	t.false(answers.some((path) => path.endsWith('/webhook-secret')))
	await page.getByRole('button', { name: 'Show the secret' }).click()
	const shown = page.getByLabel('webhook secret').locator('code')
	const before = (await shown.textContent())!
	t.regex(before, /^whsec_/)
	await page.getByRole('button', { name: 'Change the secret' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Change the secret' }).click()
	await shown.filter({ hasNotText: before }).waitFor()
	await page.getByRole('button', { name: 'I have kept it' }).click()
	await shown.waitFor({ state: 'detached' })
	t.deepEqual(faults, [])
})

test('a secret is selected to be copied where the browser has no clipboard', async (t) => {
	const { page, open, faults } = await setupConsole(t)
	// As on a page without HTTPS.
	await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
	await open('settings/keys')
	await page.getByRole('button', { name: 'Replace both keys' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Replace both keys' }).click()
	const secret = page.getByLabel('secret key')
	const key = await secret.locator('code').textContent()
	await secret.getByRole('button', { name: 'Copy' }).click()
	await page.getByText('The text is selected').waitFor()
	t.is(await page.evaluate('getSelection().toString()'), key)
	t.deepEqual(faults, [])
})
