import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { answering, startReceiver } from './helpers/webhook-receiver.ts'
import { type DeliveryJson, type EndpointJson, replayWork, takeTurn } from './helpers/webhooks.ts'

async function setupWebhookPages(
	t: ExecutionContext,
	options: Parameters<typeof setupConsole>[1] = {},
) {
	const all = await setupConsole(t, {
		...options,
		setup: { settings: { allowPrivateWebhooks: true } },
	})
	const { app, pool, project, withSecretKey: headers } = all
	const receiver = await startReceiver(t)
	async function ask<Answer>(method: 'GET' | 'POST', url: string, payload?: object) {
		const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
		t.true(answer.statusCode < 300, answer.body)
		return answer.json<Answer>()
	}
	return {
		...all,
		receiver,
		ask,
		endpoint: (events: string[]) =>
			ask<EndpointJson>('POST', '/webhook-endpoints', { url: receiver.url, events }),
		track: (event: string) =>
			ask('POST', '/events/track', { email: 'ann@example.org', event, data: { plan: 'pro' } }),
		turn: (endpointId: string) => takeTurn(pool, { projectId: project.id, endpointId }),
		deliveries: async (endpointId: string) =>
			(await ask<{ data: DeliveryJson[] }>('GET', `/webhook-endpoints/${endpointId}/deliveries`))
				.data,
	}
}

test('an endpoint is created, and its secret is shown once', async (t) => {
	const { page, open, receiver, ask, faults } = await setupWebhookPages(t)
	await open('webhooks')
	await page.getByRole('link', { name: 'New endpoint' }).click()
	await page.getByRole('button', { name: 'Create the endpoint' }).click()
	await page.getByRole('alert').waitFor()
	await page.getByRole('textbox', { name: 'Address' }).fill(receiver.url)
	await page.getByLabel('All of contact.*').check()
	await page.getByLabel('email.bounced').check()
	await page.getByLabel('Names of tracked events').fill('signup\nplan changed')
	await page.getByLabel('Keep the events of each mail in order').check()
	await page.getByRole('button', { name: 'Create the endpoint' }).click()
	const secret = await page.getByText(/^whsec_/).textContent()
	await page.getByRole('link', { name: 'I have kept the secret' }).click()
	await page.getByRole('heading', { level: 2, name: 'Deliveries' }).waitFor()
	t.false((await page.content()).includes(secret!))
	const [made] = await ask<{ events: string[]; ordering: string }[]>('GET', '/webhook-endpoints')
	t.is(made!.ordering, 'email')
	t.deepEqual(made!.events.toSorted(), [
		'contact.*',
		'email.bounced',
		'event.plan changed',
		'event.signup',
	])
	t.deepEqual(
		faults.filter((fault) => !fault.includes('422')),
		[],
	)
})

test('an endpoint is edited, gets a new secret, is disabled, enabled and deleted', async (t) => {
	const { page, open, ask, endpoint, faults } = await setupWebhookPages(t)
	const { id, secret } = await endpoint(['contact.*'])
	const record = () => ask<EndpointJson & { events: string[] }>('GET', `/webhook-endpoints/${id}`)
	const choose = async (name: string) => {
		await page.getByRole('button', { name: 'More' }).click()
		await page.getByRole('menuitem', { name }).click()
	}
	const agree = (name: string) =>
		page.getByRole('alertdialog').getByRole('button', { name }).click()
	await open(`webhooks/${id}`)
	await choose('Edit')
	await page.getByLabel('All events').check()
	await page.getByLabel('Description').fill('Our shop')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByRole('heading', { level: 1, name: 'Our shop' }).waitFor()
	t.true((await record()).events.includes('*'))
	await choose('New secret')
	await agree('Make a new secret')
	t.not(await page.getByText(/^whsec_/).textContent(), secret)
	await page.keyboard.press('Escape')
	await page.getByText(/^whsec_/).waitFor({ state: 'detached' })
	await choose('Disable')
	await agree('Disable the endpoint')
	await page.getByText('It was disabled by a member').waitFor()
	await page.getByRole('button', { name: 'Enable' }).click()
	await page.getByText('It was disabled by a member').waitFor({ state: 'detached' })
	t.true((await record()).enabled)
	await choose('Delete')
	await agree('Delete the endpoint')
	await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor()
	t.deepEqual(
		faults.filter((fault) => !fault.includes('404')),
		[],
	)
})

test('a test shows what the endpoint said, or why it said nothing', async (t) => {
	const { page, open, receiver, endpoint, pool, faults } = await setupWebhookPages(t)
	const { id } = await endpoint(['email.*', 'event.signup'])
	await open(`webhooks/${id}`)
	await page.getByRole('button', { name: 'Send a test' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Type').selectOption('email.bounced')
	receiver.answer = answering(500, 'out of order')
	await dialog.getByRole('button', { name: 'Send the sample' }).click()
	await dialog.getByText('It answered 500 in').waitFor()
	await dialog.getByText('out of order').waitFor()
	await dialog.getByLabel('request body', { exact: true }).getByText('550 5.1.1').waitFor()
	receiver.answer = answering(204)
	await dialog.getByLabel('Type').selectOption('event.signup')
	await dialog.getByRole('button', { name: 'Send another' }).click()
	await dialog.getByText('Accepted', { exact: true }).waitFor()
	t.deepEqual(
		receiver.heard.map(({ type }) => type),
		['email.bounced', 'event.signup'],
	)
	await pool.query(`update webhook_endpoints set url = 'http://127.0.0.1:9/'`)
	await dialog.getByRole('button', { name: 'Send another' }).click()
	await dialog.getByText('Nothing listens at this address').waitFor()
	t.deepEqual(faults, [])
})

test('deliveries are filtered in the address, opened with every try, and made again', async (t) => {
	const { page, open, home, receiver, endpoint, track, turn, deliveries, pool, project, faults } =
		await setupWebhookPages(t)
	const { id } = await endpoint(['event.*'])
	receiver.answer = answering(500, 'no room')
	await track('signup')
	await turn(id)
	receiver.answer = answering(200)
	await track('login')
	await turn(id)
	// Their addresses contain that of an older contact.
	await pool.query(
		`insert into contacts (project_id, email, subscribed)
		select $1, 'jo' || n || 'ann@example.org', true from generate_series(1, 30) n`,
		[project.id],
	)
	await open(`webhooks/${id}`)
	const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('link')
	await rows.filter({ hasText: 'event.login' }).waitFor()
	await page.getByLabel('Status').selectOption('Pending')
	await rows.filter({ hasText: 'event.login' }).waitFor({ state: 'detached' })
	await rows.filter({ hasText: 'event.signup' }).waitFor()
	t.deepEqual(await rows.allTextContents(), ['event.signup'])
	t.is(page.url(), `${home}/webhooks/${id}?status=PENDING`)
	const ofContact = page.getByRole('searchbox', { name: 'Address or id of a contact' })
	await ofContact.fill('ben@example.org')
	await page.getByText('No contact has the address ben@example.org.').waitFor()
	await ofContact.fill('ANN@example.org')
	await rows.filter({ hasText: 'event.signup' }).waitFor()
	t.is(await rows.count(), 1)
	await ofContact.fill('ann')
	await page.getByText('Give the whole address').waitFor()
	await ofContact.fill('')
	const [signedUp] = await deliveries(id)
	await page.getByRole('searchbox', { name: 'Id of an email' }).fill(signedUp!.id)
	await page.getByRole('heading', { name: 'No delivery is like that' }).waitFor()
	await page.getByRole('searchbox', { name: 'Id of an email' }).fill('')
	await rows.first().click()
	await page.getByRole('heading', { level: 1, name: 'event.signup' }).waitFor()
	await page.getByText('500 in').waitFor()
	await page.getByText('no room').waitFor()
	await page.getByLabel('payload', { exact: true }).getByText('"plan": "pro"').waitFor()
	await page.getByRole('button', { name: 'Deliver now' }).click()
	await page.getByText('The event is on its way').waitFor()
	await turn(id)
	await page.getByText('200 in').waitFor()
	const signup = (await deliveries(id)).find(({ type }) => type === 'event.signup')
	t.like(signup, { status: 'DELIVERED', tries: 2 })
	t.deepEqual(faults, [])
})

test('deliveries to an endpoint that rests are not due before its rest is over', async (t) => {
	const { page, open, pool, endpoint, track, faults } = await setupWebhookPages(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	await pool.query(`update webhook_endpoints set resting_until = now() + interval '10 minutes',
		failing_since = now(), failures_in_row = 12`)
	await open(`webhooks/${id}`)
	const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').last()
	await row.getByText(/^in 9 min/).waitFor()
	t.is(await row.getByText('Due now').count(), 0)
	t.deepEqual(faults, [])
})

test('a replay says how many deliveries it makes, shows its progress and can be cancelled', async (t) => {
	const { page, open, pool, project, endpoint, track, turn, faults } = await setupWebhookPages(t, {
		browser: { viewport: phone },
	})
	const { id } = await endpoint(['event.*'])
	await track('signup')
	await turn(id)
	await open(`webhooks/${id}`)
	const begin = async () => {
		await page.getByRole('button', { name: 'Replay' }).click()
		const dialog = page.getByRole('dialog')
		await dialog.getByText('Deliveries of this period: 0').waitFor()
		await dialog.getByRole('combobox', { name: 'Deliveries' }).selectOption('all')
		await dialog.getByText('Deliveries of this period: 1').waitFor()
		await dialog.getByRole('button', { name: 'Replay' }).click()
		return page.getByRole('region', { name: 'Replay' })
	}
	const replay = await begin()
	await replay.getByText('Waiting', { exact: true }).waitFor()
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await replay.getByRole('button', { name: 'Cancel the replay' }).click()
	await replay.getByText('Cancelled', { exact: true }).waitFor()
	await replay.getByRole('button', { name: 'Close' }).click()
	await begin()
	await replay.getByText('Waiting', { exact: true }).waitFor()
	const jobId = new URL(page.url()).searchParams.get('replay')!
	await open(`webhooks/${id}`)
	await replay.getByText('Waiting', { exact: true }).waitFor()
	// The endpoint is the first to say that nothing is under way any more.
	const said = Promise.withResolvers<void>()
	await page.route(`**/replay/${jobId}`, async (route) => {
		await said.promise
		await route.continue()
	})
	await new MockActivityEnvironment().run(replayWork(pool), { projectId: project.id, jobId })
	for (let isUnderWay = true; isUnderWay;) {
		const answer = await page.waitForResponse((one) => one.url().endsWith(`/${id}`))
		isUnderWay = (await answer.json()).replayJobId !== null
	}
	said.resolve()
	await replay.getByText('Completed', { exact: true }).waitFor()
	await replay.getByText('One delivery is made again').waitFor()
	t.deepEqual(faults, [])
})

test('a member reads endpoints and deliveries, and changes nothing', async (t) => {
	const { page, open, endpoint, track, turn, faults } = await setupWebhookPages(t, {
		role: 'MEMBER',
	})
	const { id } = await endpoint(['event.*'])
	await track('signup')
	await turn(id)
	await open(`webhooks/${id}`)
	await page.getByText('Only admins and the owner change endpoints').waitFor()
	t.is(await page.getByRole('button', { name: 'Send a test' }).count(), 0)
	await page.getByRole('link', { name: 'event.signup' }).click()
	await page.getByLabel('payload', { exact: true }).waitFor()
	t.is(await page.getByRole('button', { name: 'Deliver now' }).count(), 0)
	t.deepEqual(faults, [])
})

test('the pages of webhooks have no barrier', async (t) => {
	const { page, open, endpoint, track, turn, deliveries, faults } = await setupWebhookPages(t)
	await open('webhooks')
	await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	const { id } = await endpoint(['event.*'])
	await track('signup')
	await turn(id)
	const [delivery] = await deliveries(id)
	for (const [path, seen] of [
		['webhooks', 'Healthy'],
		['webhooks/new', 'Create the endpoint'],
		[`webhooks/${id}`, 'event.signup'],
		[`webhooks/${id}/deliveries/${delivery!.id}`, 'Deliver now'],
	] as const) {
		await open(path)
		await page.getByText(seen, { exact: true }).last().waitFor()
		t.deepEqual(await barriersOf(page), [], path)
	}
	t.deepEqual(faults, [])
})
