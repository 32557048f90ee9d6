import test from 'ava'
import { setupConsole } from './helpers/console.ts'

test('the audit log says who changed what when, by person and by key', async (t) => {
	const { app, page, open, home, withSecretKey, faults } = await setupConsole(t, { role: 'ADMIN' })
	const created = await app.inject({
		method: 'POST',
		url: '/contacts',
		headers: { ...withSecretKey, 'user-agent': 'Shop/1.0' },
		payload: { email: 'ben@example.org' },
	})
	await open('settings/sending')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Tracking and postal address are saved').waitFor()
	await app.inject({
		method: 'PATCH',
		url: `/contacts/${created.json().id}`,
		headers: withSecretKey,
		payload: { subscribed: false },
	})
	await page.getByRole('link', { name: 'Audit log' }).click()
	const changes = page.getByRole('table', { name: 'Changes' }).getByRole('row')
	const seen = async () =>
		(await changes.allTextContents()).slice(1).map((row) => row.split(/ann@|sk_/)[0])
	await page.getByText('3 changes').waitFor()
	t.deepEqual(await seen(), ['Contacts: update', 'Projects: update', 'Contacts: create or update'])
	await page.getByLabel('By', { exact: true }).selectOption('ann@example.org')
	await page.getByText('1 change').waitFor()
	t.deepEqual(await seen(), ['Projects: update'])
	await page.getByLabel('By', { exact: true }).selectOption('Secret keys')
	await page.waitForURL(`${home}/settings/audit?who=keys`)
	await page.getByText('2 changes').waitFor()
	await page.getByRole('button', { name: 'Details of Contacts: update' }).click()
	await page.getByRole('dialog').getByText(created.json().id).waitFor()
	await page.keyboard.press('Escape')
	await page.getByLabel('Since').fill('2199-01-01')
	await page.getByRole('heading', { name: 'No change is like that' }).waitFor()
	t.deepEqual(faults, [])
})
