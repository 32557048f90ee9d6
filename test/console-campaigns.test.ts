import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { plan, withCampaigns } from './helpers/campaigns.ts'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { saveSlowly } from './helpers/slow-save.ts'

// One after the other: each needs a whole browser page with an editor.
async function setupCampaigns(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const all = await withCampaigns(t, await setupConsole(t, options))
	const { page, query } = all
	/** Some mails of a campaign, as if this had become of them. */
	const become = (id: string, from: string, count: number, changes: string) =>
		query(
			`update emails set ${changes} where campaign_id = $1 and id in (
				select id from emails where campaign_id = $1 and status = $2 order by id limit $3)`,
			[id, from, count],
		)
	return {
		...all,
		become,
		/** Answers the question that is asked. */
		answer: (act: string) =>
			page.getByRole('alertdialog').getByRole('button', { name: act }).click(),
		unexpected: () => all.faults.filter((fault) => !/status of (?:422|409)/.test(fault)),
	}
}

const sent = `status = 'SENT', sent_at = now()`

test.serial(
	'a campaign is written from a template, for a segment, and sent after a question with its count',
	async (t) => {
		const { page, open, contacts, request, get, recipients, faults } = await setupCampaigns(t)
		await contacts(4, { data: { plan: 'pro' } })
		await contacts(1, { data: { plan: 'pro' }, subscribed: false }, 'left')
		await contacts(3, {}, 'other')
		await request('POST', '/segments', { name: 'Pro', condition: plan('pro') })
		await request('POST', '/templates', {
			name: 'Letter',
			subject: 'Dear {{ name }}',
			body: '<p>From the template</p>',
			from: 'news@example.com',
		})
		await open('campaigns')
		await page.getByRole('link', { name: 'New campaign' }).first().click()
		await page.getByLabel('Name', { exact: true }).fill('Spring')
		await page.getByLabel('Begin with').selectOption('Template: Letter')
		await page.getByRole('button', { name: 'Write it' }).click()
		await page.getByRole('heading', { level: 1, name: 'Spring' }).waitFor()
		await page.frameLocator('iframe[title=Mail]').getByText('From the template').waitFor()
		await page.getByText('7 subscribed contacts get it').waitFor()
		await page.getByText('Segment', { exact: true }).click()
		await page.getByRole('combobox', { name: 'Segment' }).selectOption('Pro')
		await page.getByText('4 subscribed contacts get it').waitFor()
		await page.getByRole('button', { name: 'Send…' }).click()
		const dialog = page.getByRole('dialog')
		await dialog.getByText('This project has no postal address').waitFor()
		await dialog.getByRole('button', { name: 'Send to 4 contacts' }).click()
		await page.getByRole('progressbar').waitFor()
		const id = new URL(page.url()).pathname.split('/').at(-1)!
		t.like(await get(id), { status: 'SENDING', totalRecipients: 4, subject: 'Dear {{ name }}' })
		t.deepEqual(await recipients(id), [])
		t.deepEqual(faults, [])
	},
)

test.serial(
	'an audience by condition is counted while it is built, and stored with the campaign',
	async (t) => {
		const { page, open, contacts, create, get, faults } = await setupCampaigns(t)
		await contacts(3, { data: { plan: 'pro' } })
		await contacts(2, { data: { plan: 'free' } }, 'free')
		const { id } = await create()
		await open(`campaigns/${id}`)
		await page.getByText('5 subscribed contacts get it').waitFor()
		await page.getByText('Condition', { exact: true }).click()
		await page.getByText('Choose the audience').waitFor()
		await page.getByRole('group', { name: 'Condition' }).getByText('choose a field').click()
		await page.getByRole('option', { name: 'plan' }).click()
		await page.getByLabel('Value', { exact: true }).fill('pro')
		await page.getByText('3 subscribed contacts get it').waitFor()
		await page.getByLabel('Type').selectOption('Transactional')
		await page.getByText('3 contacts get it').waitFor()
		await page.keyboard.press('Control+s')
		await page.getByText('The campaign is saved').waitFor()
		t.like(await get(id), {
			audienceType: 'FILTERED',
			audienceCondition: plan('pro'),
			totalRecipients: 3,
			type: 'TRANSACTIONAL',
		})
		t.deepEqual(faults, [])
	},
)

test.serial('a campaign is scheduled, moved and cancelled, on a phone', async (t) => {
	const { page, open, contacts, create, get, answer, faults } = await setupCampaigns(t, {
		browser: { viewport: phone, timezoneId: 'Europe/Berlin' },
	})
	await contacts(2)
	const { id } = await create()
	await open(`campaigns/${id}`)
	await page.getByRole('button', { name: 'Send…' }).click()
	await page.getByText('At a time').click()
	for (const [time, fault] of [
		['', 'Choose a day and a time.'],
		['2020-01-01T10:00', 'This time is in the past.'],
	] as const) {
		await page.getByLabel('Time', { exact: true }).fill(time)
		await page.getByRole('button', { name: 'Schedule for 2 contacts' }).click()
		await page.getByRole('alert').getByText(fault).waitFor()
	}
	t.is((await get(id)).status, 'DRAFT')
	await page.getByLabel('Time', { exact: true }).fill('2040-01-31T10:00')
	// Its reader looks at another tab, and comes back.
	await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
	await page.waitForLoadState('networkidle')
	t.is(await page.getByLabel('Time', { exact: true }).inputValue(), '2040-01-31T10:00')
	await page.getByRole('button', { name: 'Schedule for 2 contacts' }).click()
	await page.getByText('It will be sent on Jan 31, 2040, 10:00').waitFor()
	await page.getByText('2 subscribed contacts get it').waitFor()
	t.is((await get(id)).scheduledFor, '2040-01-31T09:00:00.000Z')
	await page.getByRole('button', { name: 'Reschedule' }).click()
	t.is(await page.getByLabel('Time', { exact: true }).inputValue(), '2040-01-31T10:00')
	await page.getByLabel('Time', { exact: true }).fill('2040-02-01T10:00')
	await page.getByRole('button', { name: 'Schedule for 2 contacts' }).click()
	await page.getByText('It will be sent on Feb 1, 2040, 10:00').waitFor()
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await page.getByRole('button', { name: 'Acts for Spring' }).click()
	await page.getByRole('menuitem', { name: 'Cancel the campaign' }).click()
	await page.getByRole('alertdialog').getByText('2 contacts will not get it').waitFor()
	await answer('Cancel the campaign')
	await page.getByText('It was cancelled').waitFor()
	t.is((await get(id)).status, 'CANCELLED')
	t.deepEqual(faults, [])
})

test.serial('nothing is sent to nobody, and the page says why', async (t) => {
	const { page, open, contacts, create, get, faults } = await setupCampaigns(t)
	await contacts(2, { subscribed: false })
	const { id } = await create()
	await open(`campaigns/${id}`)
	await page.getByRole('button', { name: 'Send…' }).click()
	await page.getByRole('dialog').getByText('Nobody would get it now').waitFor()
	t.is(
		await page
			.getByRole('dialog')
			.getByRole('button', { name: /^Send to/ })
			.count(),
		0,
	)
	t.is((await get(id)).status, 'DRAFT')
	t.deepEqual(faults, [])
})

test.serial(
	'progress is live, and pausing, resuming and cancelling ask with the counts of the moment',
	async (t) => {
		const { page, open, contacts, started, become, get, answer, faults } = await setupCampaigns(t)
		await contacts(10)
		const id = await started()
		await open(`campaigns/${id}`)
		await page.getByText('0 of 10').waitFor()
		await become(id, 'PENDING', 6, sent)
		await page.getByText('6 of 10').waitFor()
		await page.getByText(/per second/).waitFor()
		t.is(await page.getByRole('progressbar').getAttribute('aria-valuenow'), '6')
		await page.getByRole('button', { name: 'Pause' }).click()
		await page.getByRole('alertdialog').getByText('4 contacts have not got it yet').waitFor()
		await answer('Pause the campaign')
		await page.getByText('Paused. 4 mails wait').waitFor()
		await page.getByRole('button', { name: 'Resume' }).click()
		await answer('Resume the campaign')
		await page.getByRole('button', { name: 'Pause' }).waitFor()
		t.is((await get(id)).pausedAt, null)
		await page.getByRole('button', { name: 'Cancel the campaign' }).click()
		await page.getByText('4 contacts will not get it. 6 mails have left').waitFor()
		await answer('Cancel the campaign')
		await page.getByText('It was cancelled').waitFor()
		t.is((await get(id)).status, 'CANCELLED')
		t.deepEqual(faults, [])
	},
)

test.serial('a campaign at the send rate shows its rate and its end', async (t) => {
	const { page, open, contacts, started, faults } = await setupCampaigns(t)
	await contacts(10)
	const id = await started()
	await page.route('**/progress', async (route) => {
		const answer = await route.fetch()
		const waitingFor = { reason: 'rate', message: null, until: null, mails: 4 }
		const json = { ...(await answer.json()), ratePerSecond: 14, etaSeconds: 120, waitingFor }
		await route.fulfill({ response: answer, json })
	})
	await open(`campaigns/${id}`)
	await page.getByText('14 per second · about 2 min left').waitFor()
	await page.getByText('as fast as the send rate of the project allows').waitFor()
	t.deepEqual(faults, [])
})

test.serial(
	'a campaign whose sender is not verified says so, and goes on once the domain is verified',
	async (t) => {
		const { page, open, contacts, started, query, answer, faults } = await setupCampaigns(t)
		await contacts(3)
		const id = await started()
		await query('update domains set verified_at = null')
		await query(`update campaigns set paused_at = now(), paused_reason = 'SENDER'`)
		await open(`campaigns/${id}`)
		const cause = 'The sender’s domain is not verified. Verify it, then resume the campaign.'
		await page.getByText(`Paused. 3 mails wait until you resume it. ${cause}`).waitFor()
		const resume = async () => {
			await page.getByRole('button', { name: 'Resume' }).click()
			await answer('Resume the campaign')
		}
		await resume()
		await page.getByText("The sender's domain example.com is not verified yet").waitFor()
		await query('update domains set verified_at = now()')
		await resume()
		await page.getByRole('button', { name: 'Pause' }).waitFor()
		t.deepEqual(
			faults.filter((fault) => !fault.includes('status of 403')),
			[],
		)
	},
)

test.serial(
	'a campaign at a billing limit says how it goes on, and cannot be resumed',
	async (t) => {
		const { page, open, contacts, started, query, faults } = await setupCampaigns(t)
		await contacts(3)
		const id = await started()
		await query(`update campaigns set paused_at = now(), paused_reason = 'BILLING_LIMIT'`)
		await open(`campaigns/${id}`)
		await page.getByText('3 mails wait, and go on without you once the limit is raised').waitFor()
		await page.getByRole('button', { name: 'Cancel the campaign' }).waitFor()
		t.is(await page.getByRole('button', { name: 'Resume' }).count(), 0)
		t.deepEqual(faults, [])
	},
)

test.serial('a campaign that was cancelled before its time says so', async (t) => {
	const { page, open, contacts, create, call, faults } = await setupCampaigns(t)
	await contacts(3)
	const { id } = await create()
	await call('POST', `/${id}/send`, { scheduledFor: '2099-01-01' })
	await call('POST', `/${id}/cancel`)
	await open(`campaigns/${id}?tab=recipients`)
	await page.getByText('It was cancelled before anybody was to get it.').waitFor()
	t.deepEqual(faults, [])
})

test.serial('mails in doubt are listed, and settled after a question', async (t) => {
	const { page, open, contacts, started, become, states, answer, faults } = await setupCampaigns(t)
	await contacts(5)
	const id = await started()
	await become(id, 'PENDING', 3, sent)
	const doubt = `status = 'UNCERTAIN', attempt = 1, attempt_started_at = now()`
	await become(id, 'PENDING', 2, doubt)
	await open(`campaigns/${id}`)
	await page.getByText('2 mails are in doubt').waitFor()
	await page.getByRole('link', { name: 'Show mails in doubt' }).click()
	await page.getByText('2 recipients').waitFor()
	t.is(await page.getByRole('table', { name: 'Recipients' }).getByRole('link').count(), 2)
	await page.getByRole('button', { name: 'Count as sent' }).click()
	await answer('Count 2 mails as sent')
	await page.getByText('2 mails are in doubt').waitFor({ state: 'detached' })
	t.deepEqual(await states(id), { SENT: 5 })
	t.deepEqual(faults, [])
})

test.serial(
	'a sent campaign shows its funnel, its course and its failed recipients with their mails',
	async (t) => {
		const { page, open, contacts, started, become, query, faults } = await setupCampaigns(t)
		await contacts(10)
		const id = await started()
		await become(id, 'PENDING', 1, `status = 'FAILED', error = '550 No such mailbox'`)
		await become(id, 'PENDING', 9, sent)
		await become(id, 'SENT', 6, `status = 'DELIVERED', delivered_at = now()`)
		await become(id, 'DELIVERED', 3, `status = 'OPENED', opened_at = now()`)
		await query(`update campaigns set status = 'SENT', sent_at = now() where id = $1`, [id])
		await open('campaigns')
		await page.getByRole('link', { name: 'Spring' }).click()
		const funnel = page.getByLabel('Funnel')
		await funnel.getByText('33.3% of sent').waitFor()
		t.deepEqual((await funnel.locator('dd strong').allTextContents()).map(Number), [10, 9, 6, 3, 0])
		await page.getByRole('img', { name: 'The mails of the campaign over time' }).waitFor()
		await page.getByRole('link', { name: 'Show failed mails' }).click()
		await page.getByText('1 recipient', { exact: true }).waitFor()
		t.is(await page.getByLabel('Status').inputValue(), 'FAILED')
		await page.getByRole('table', { name: 'Recipients' }).getByText('550 No such mailbox').waitFor()
		await page.getByRole('table', { name: 'Recipients' }).getByRole('link').click()
		await page.getByRole('heading', { level: 1, name: 'Hello' }).waitFor()
		t.deepEqual(faults, [])
	},
)

test.serial(
	'the list shows status, audience and figures, and is filtered by its address',
	async (t) => {
		const { page, open, contacts, create, started, become, home, faults } = await setupCampaigns(t)
		await contacts(4)
		await create({ name: 'Draft one' })
		const id = await started({ name: 'Running one' })
		await become(id, 'PENDING', 1, sent)
		await open('campaigns')
		const row = page.getByRole('row', { name: /Running one/ })
		await row.getByText('25%').waitFor()
		await row.getByText('All contacts 4').waitFor()
		await page.getByLabel('Status').selectOption('Draft')
		await row.waitFor({ state: 'detached' })
		t.is(page.url(), `${home}/campaigns?status=DRAFT`)
		await page.reload()
		await page.getByRole('link', { name: 'Draft one' }).click()
		await page.getByRole('button', { name: 'Acts for Draft one' }).click()
		await page.getByRole('menuitem', { name: 'Duplicate' }).click()
		await page.getByRole('heading', { level: 1, name: 'Draft one (Copy)' }).waitFor()
		await page.getByRole('button', { name: 'Acts for Draft one (Copy)' }).click()
		await page.getByRole('menuitem', { name: 'Delete' }).click()
		await page.getByRole('button', { name: 'Delete the campaign' }).click()
		await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor()
		await page.getByRole('link', { name: /Copy/ }).waitFor({ state: 'detached' })
		t.deepEqual(faults, [])
	},
)

test.serial('a campaign that has changed since it was opened is not sent', async (t) => {
	const { page, open, contacts, create, call, get, unexpected } = await setupCampaigns(t)
	await contacts(1)
	const { id } = await create()
	await open(`campaigns/${id}`)
	await page.getByText('1 subscribed contact gets it').waitFor()
	await page.getByRole('button', { name: 'Send…' }).click()
	await page.getByRole('button', { name: 'Send to 1 contact' }).waitFor()
	await call('PUT', `/${id}`, { subject: 'Something else' })
	await page.getByRole('button', { name: 'Send to 1 contact' }).click()
	await page.getByRole('dialog').getByText('has changed since you opened it').waitFor()
	t.is((await get(id)).status, 'DRAFT')
	await page.getByRole('button', { name: 'Show it as it is now' }).click()
	await page.getByText('Something else').waitFor()
	t.deepEqual(unexpected(), [])
})

test.serial('a campaign that was sent is shown so, although the answer was lost', async (t) => {
	const { page, open, contacts, create, get } = await setupCampaigns(t)
	await contacts(2)
	const { id } = await create()
	await open(`campaigns/${id}`)
	await page.getByText('2 subscribed contacts get it').waitFor()
	await page.getByRole('button', { name: 'Send…' }).click()
	await page.route('**/campaigns/*/send', async (route) => {
		await route.fetch()
		await route.abort()
	})
	await page.getByRole('button', { name: 'Send to 2 contacts' }).click()
	await page.getByText('The campaign is being sent').waitFor()
	await page.getByRole('progressbar').waitFor()
	await page.getByRole('button', { name: 'Send to 2 contacts' }).waitFor({ state: 'detached' })
	t.is((await get(id)).status, 'SENDING')
})

test.serial('the pages of campaigns have no barrier, in light and dark', async (t) => {
	const { page, open, contacts, create, started, become, faults } = await setupCampaigns(t)
	await contacts(3)
	const { id } = await create()
	const running = await started({ name: 'Running' })
	await become(running, 'PENDING', 2, sent)
	const pages: [path: string, seen: string][] = [
		['campaigns', 'Running'],
		['campaigns/new', 'Begin with'],
		[`campaigns/${id}`, '3 subscribed contacts get it'],
		[`campaigns/${running}`, '2 of 3'],
		[`campaigns/${running}?tab=recipients`, '3 recipients'],
	]
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme })
		for (const [path, seen] of pages) {
			await open(path)
			await page.getByText(seen).first().waitFor()
			t.deepEqual(await barriersOf(page), [], `${path}, ${colorScheme}`)
		}
	}
	t.deepEqual(faults, [])
})

test.serial(
	'a text that was not saved before the campaign started becomes a new draft',
	async (t) => {
		const { page, open, contacts, create, call, get, unexpected } = await setupCampaigns(t)
		await contacts(1)
		const { id } = await create()
		await call('POST', `/${id}/send`, { scheduledFor: new Date(Date.now() + 30_000).toISOString() })
		await open(`campaigns/${id}`)
		const written = page.getByLabel('Subject')
		await written.fill('Better words')
		await page.getByText('Not saved').waitFor()
		// It starts while more letters are being typed.
		const typing = written.pressSequentially('!'.repeat(100), { delay: 50 })
		typing.catch(() => {})
		t.true(await until(async () => (await written.inputValue()).endsWith('!'), 10_000))
		await call('POST', `/${id}/send`)
		await page.getByText('It started before your last changes were saved').waitFor()
		await page.getByRole('button', { name: 'Make a draft of them' }).click()
		await page.getByRole('heading', { level: 1, name: 'Spring (Copy)' }).waitFor()
		const copy = new URL(page.url()).pathname.split('/').at(-1)!
		const { status, subject } = await get(copy)
		t.is(status, 'DRAFT')
		t.regex(subject, /^Better words!+$/)
		t.is((await get(id)).subject, 'Hello {{ name }}')
		t.deepEqual(unexpected(), [])
	},
)

test.serial(
	'unfinished Liquid of a campaign that has started becomes one draft, unsaved',
	async (t) => {
		const { page, open, contacts, create, call, get, request, unexpected } = await setupCampaigns(t)
		await contacts(1)
		const { id } = await create()
		await open(`campaigns/${id}`)
		await page.getByLabel('Subject').fill('Hello {{ na')
		await page.getByText('Not saved').waitFor()
		await call('POST', `/${id}/send`)
		await page.getByText('It started before your last changes were saved').waitFor()
		await page.getByRole('button', { name: 'Make a draft of them' }).click()
		await page.getByRole('heading', { level: 1, name: 'Spring (Copy)' }).waitFor()
		t.is(await page.getByLabel('Subject').inputValue(), 'Hello {{ na')
		await page.getByText('They are not saved yet').waitFor()
		await page.getByLabel('Subject').fill('Hello {{ name }}, again')
		await page.keyboard.press('Control+s')
		await page.getByText('The campaign is saved').waitFor()
		const copy = new URL(page.url()).pathname.split('/').at(-1)!
		t.is((await get(copy)).subject, 'Hello {{ name }}, again')
		t.is((await request('GET', '/campaigns')).json().total, 2)
		t.deepEqual(unexpected(), [])
	},
)

test.serial(
	'a campaign with unsaved changes is copied after a question, and deleted after one',
	async (t) => {
		const { page, open, create, get, request, answer, home, faults } = await setupCampaigns(t)
		const { id } = await create()
		await open(`campaigns/${id}`)
		await page.getByLabel('Subject').fill('Better words')
		await page.getByText('Not saved').waitFor()
		const choose = async (act: string) => {
			await page.getByRole('button', { name: /^Acts for/ }).click()
			await page.getByRole('menuitem', { name: act }).click()
		}
		await choose('Duplicate')
		await answer('Cancel')
		await page.getByRole('alertdialog').waitFor({ state: 'detached' })
		t.is((await request('GET', '/campaigns')).json().total, 1)
		t.is(await page.getByLabel('Subject').inputValue(), 'Better words')
		await choose('Duplicate')
		await answer('Leave without saving')
		await page.getByRole('heading', { level: 1, name: 'Spring (Copy)' }).waitFor()
		const copy = new URL(page.url()).pathname.split('/').at(-1)!
		t.is((await get(copy)).subject, 'Hello {{ name }}')
		await page.getByLabel('Subject').fill('Best words')
		await page.getByText('Not saved').waitFor()
		await choose('Delete')
		await answer('Delete the campaign')
		await page.waitForURL(`${home}/campaigns`)
		t.is((await request('GET', '/campaigns')).json().total, 1)
		t.deepEqual(faults, [])
	},
)

test.serial('a list that cannot be reached says so, and is there after another try', async (t) => {
	const { page, open, create } = await setupCampaigns(t)
	await create()
	await page.route('**/campaigns?*', (route) => route.abort())
	await open('campaigns')
	await page.getByText('Check your connection, then try again.').waitFor()
	await page.unroute('**/campaigns?*')
	await page.getByRole('button', { name: 'Try again' }).click()
	await page.getByRole('link', { name: 'Spring' }).waitFor()
	t.pass()
})

test.serial('a campaign that is still being saved is sent as it was saved', async (t) => {
	const { page, open, contacts, create, get, faults } = await setupCampaigns(t)
	await contacts(2)
	const { id } = await create()
	await open(`campaigns/${id}`)
	await page.getByText('2 subscribed contacts get it').waitFor()
	const save = await saveSlowly(page, `/campaigns/${id}`, 'PUT')
	await page.getByRole('button', { name: 'Send…' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.waitFor()
	t.is(await save.answer(), 200)
	save.answerSecond()
	await dialog.getByRole('button', { name: 'Send to 2 contacts' }).click()
	await page.getByRole('progressbar').waitFor()
	t.regex((await get(id)).subject, /!$/)
	t.deepEqual(faults, [])
})
