import test, { type ExecutionContext } from 'ava'
import { setupConsole } from './helpers/console.ts'

async function setupSuppressions(t: ExecutionContext) {
	const all = await setupConsole(t, { role: 'MEMBER' })
	const { app, page, withSecretKey: headers } = all
	const add = (email: string, reason: string) =>
		app.inject({ method: 'POST', url: '/suppressions', headers, payload: { email, reason } })
	await add('ben@example.org', 'BOUNCE')
	await add('eve@example.org', 'MANUAL')
	return {
		...all,
		rows: page.getByRole('table', { name: 'Suppressed addresses' }).getByRole('row'),
		listed: async () =>
			(
				(await app.inject({ url: '/suppressions', headers })).json().data as {
					email: string
					reason: string
				}[]
			)
				.map(({ email, reason }) => `${email} ${reason}`)
				.toSorted(),
	}
}

test('suppressed addresses are found, added, taken off the list, and returned to it', async (t) => {
	const { page, open, rows, listed, home, faults } = await setupSuppressions(t)
	await open('settings/suppressions')
	await rows.filter({ hasText: 'ben@example.org' }).getByText('Bounced').waitFor()
	await page.getByRole('button', { name: 'Add an address' }).click()
	const address = page.getByRole('dialog').getByLabel('Email address')
	await address.fill('nobody')
	await page.getByRole('button', { name: 'Add', exact: true }).click()
	await page.getByRole('dialog').getByRole('alert').waitFor()
	t.is(await address.getAttribute('aria-invalid'), 'true')
	await address.fill('zoe@example.org')
	await page.getByRole('button', { name: 'Add', exact: true }).click()
	await rows.filter({ hasText: 'zoe@example.org' }).waitFor()
	await page.keyboard.press('/')
	await page.keyboard.type('BEN@')
	await rows.filter({ hasText: 'eve' }).waitFor({ state: 'detached' })
	await page.waitForURL(`${home}/settings/suppressions?search=BEN%40`)
	await page.getByRole('button', { name: 'Remove ben@example.org' }).click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Take it off the list' }).click()
	await page.getByRole('heading', { name: 'No address is like that' }).waitFor()
	t.deepEqual(await listed(), ['eve@example.org MANUAL', 'zoe@example.org MANUAL'])
	await page.getByRole('button', { name: 'Undo' }).click()
	await rows.filter({ hasText: 'ben@example.org' }).waitFor()
	t.true((await listed()).includes('ben@example.org BOUNCE'))
	t.deepEqual(
		faults.filter((fault) => !fault.includes('422')),
		[],
	)
})

test('an address that bounces meanwhile appears by itself', async (t) => {
	const { app, page, open, rows, withSecretKey: headers, faults } = await setupSuppressions(t)
	await page.clock.install()
	await open('settings/suppressions')
	await rows.filter({ hasText: 'ben@example.org' }).waitFor()
	const payload = { email: 'zoe@example.org', reason: 'BOUNCE' }
	await app.inject({ method: 'POST', url: '/suppressions', headers, payload })
	await page.clock.runFor(31_000)
	await rows.filter({ hasText: 'zoe@example.org' }).waitFor()
	t.deepEqual(faults, [])
})
