import test, { type ExecutionContext } from 'ava'
import { testSettings } from './helpers/app.ts'
import { setupConsole } from './helpers/console.ts'
import { startStripe, stripeSecret } from './helpers/stripe-fake.ts'

async function setupBilling(t: ExecutionContext) {
	const fake = await startStripe(t)
	const settings = {
		stripe: fake.stripe,
		stripeWebhookSecret: stripeSecret,
		features: { ...testSettings().features, billing: true },
	}
	return { ...fake, ...(await setupConsole(t, { role: 'ADMIN', setup: { settings } })) }
}

test('where billing is off the page says so, and asks for nothing', async (t) => {
	const { page, open, faults } = await setupConsole(t)
	const requests: string[] = []
	page.on('request', (request) => requests.push(request.url()))
	await open('settings/billing')
	await page.getByRole('heading', { name: 'Billing is off on this installation' }).waitFor()
	t.deepEqual(
		requests.filter((url) => /\/projects\/.*billing/.test(url)),
		[],
	)
	t.deepEqual(faults, [])
})

test('usage is shown, and limits are set: a question comes before one that is reached already', async (t) => {
	const { page, open, pool, project, faults } = await setupBilling(t)
	await pool.query(
		`insert into usage_tallies (project_id, month, category, used, sent)
		values ($1, date_trunc('month', now(), 'UTC')::date, 'campaigns', 90, 90)`,
		[project.id],
	)
	await open('settings/billing')
	await page.getByRole('region', { name: 'This month' }).getByText('90').first().waitFor()
	const campaigns = page.getByLabel('Campaigns')
	await campaigns.fill('many')
	await page.getByRole('button', { name: 'Set the limits' }).click()
	await page.getByRole('alert').waitFor()
	t.is(await campaigns.getAttribute('aria-invalid'), 'true')
	await campaigns.fill('80')
	await page.getByRole('button', { name: 'Set the limits' }).click()
	const question = page.getByRole('alertdialog')
	await question.getByText('Campaigns: 90 this month').waitFor()
	await question.getByRole('button', { name: 'Set the limits' }).click()
	await page.getByText('The limits are set').waitFor()
	await page.getByText('Reached').waitFor()
	const { rows } = await pool.query('select * from billing_accounts where project_id = $1', [
		project.id,
	])
	t.like(rows, { length: 1 })
	t.deepEqual(
		faults.filter((fault) => !fault.includes('422')),
		[],
	)
})

test('subscribing leads to the payment page of Stripe', async (t) => {
	const { page, open, sessions, faults } = await setupBilling(t)
	await page.route('https://checkout.stripe.test/**', (route) =>
		route.fulfill({ contentType: 'text/html', body: '<title>Pay</title>' }),
	)
	await open('settings/billing')
	await page.getByText('There is no invoice yet').waitFor()
	await page.getByRole('button', { name: 'Subscribe' }).click()
	await page.waitForURL('https://checkout.stripe.test/**')
	t.is(sessions.length, 1)
	t.deepEqual(faults, [])
})
