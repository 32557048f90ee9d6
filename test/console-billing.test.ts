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
	for (const wrong of ['many', '1000.00']) {
		await campaigns.fill(wrong)
		await page.getByRole('button', { name: 'Set the limits' }).click()
		await page.getByRole('alert').waitFor()
		t.is(await campaigns.getAttribute('aria-invalid'), 'true', wrong)
	}
	await campaigns.fill('1,000')
	await page.getByRole('button', { name: 'Set the limits' }).click()
	await page.getByText('The limits are set').waitFor()
	t.is(await campaigns.inputValue(), '1,000')
	await campaigns.fill('80')
	await page.getByRole('button', { name: 'Set the limits' }).click()
	const question = page.getByRole('alertdialog')
	await question.getByText('Campaigns: 90 this month').waitFor()
	await question.getByRole('button', { name: 'Set the limits' }).click()
	await page.getByText('The limits are set').last().waitFor()
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

test('a limit that another person has set meanwhile stays when one of another category is set', async (t) => {
	const { page, open, pool, project } = await setupBilling(t)
	await open('settings/billing')
	const transactional = page.getByLabel('Transactional mail')
	await transactional.waitFor()
	await pool.query(
		`insert into billing_accounts (project_id, campaigns_limit) values ($1, 1000)
		on conflict (project_id) do update set campaigns_limit = 1000`,
		[project.id],
	)
	await transactional.fill('5000')
	await page.getByRole('button', { name: 'Set the limits' }).click()
	await page.getByText('The limits are set').waitFor()
	const { rows } = await pool.query(
		'select transactional_limit, campaigns_limit, inbound_limit from billing_accounts where project_id = $1',
		[project.id],
	)
	t.deepEqual(rows, [{ transactional_limit: 5000, campaigns_limit: 1000, inbound_limit: null }])
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

test('a subscribed project sees its invoices and the next one, and an unpaid one is pointed out', async (t) => {
	const { page, open, pool, project, invoices, faults } = await setupBilling(t)
	await pool.query(
		`insert into billing_accounts (project_id, customer_id, subscription_id, subscribed, currency)
		values ($1, 'cus_1', 'sub_1', true, 'eur')`,
		[project.id],
	)
	invoices.set('cus_1', [
		{
			id: 'in_1',
			number: 'A-1',
			status: 'open',
			amount_due: 123_456,
			amount_paid: 0,
			amount_remaining: 123_456,
			total: 123_456,
			currency: 'eur',
			created: 1_790_000_000,
			period_start: 1_780_000_000,
			period_end: 1_790_000_000,
			hosted_invoice_url: 'https://invoice.stripe.test/1',
			invoice_pdf: null,
		},
	])
	await page.route('https://portal.stripe.test/**', (route) =>
		route.fulfill({ contentType: 'text/html', body: '<title>Portal</title>' }),
	)
	await open('settings/billing')
	await page.getByText('The next invoice is €12.34 so far').waitFor()
	await page.getByText('An invoice is not paid').waitFor()
	const row = page.getByRole('table', { name: 'Invoices' }).getByRole('row').last()
	t.regex((await row.textContent())!, /A-1Open€1,234\.56/)
	t.is(await row.getByRole('link').getAttribute('href'), 'https://invoice.stripe.test/1')
	await page.getByRole('button', { name: 'Change payment or end the subscription' }).click()
	await page.waitForURL('https://portal.stripe.test/cus_1')
	t.deepEqual(faults, [])
})
