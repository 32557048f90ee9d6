import test from 'ava'
import { campaignActivities } from '../activities/campaigns/campaigns.ts'
import { freezeChunk } from '../db/campaigns/audience-pages.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { sendingCampaign } from './helpers/campaign-sending.ts'
import { openCampaigns, sumOf } from './helpers/campaigns.ts'
import { scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'

test('a mail is born as it is sent, with the data of its campaign and its contact', async (t) => {
	const { contacts, frozen, query, pool, project, request } = await openCampaigns(t)
	await contacts(1, { data: { name: 'Ann' } })
	const id = await frozen({ replyTo: 'reply@example.com' })
	t.deepEqual(await query('select from emails'), [])
	await query(`update contacts set email = 'new@example.net', data = '{"name": "Eve"}'`)
	const { provider, handed } = scriptedProvider()
	const worker = campaignWorker(pool, provider)
	t.like(await worker.send(project.id, id), { settled: 1, left: 0 })
	t.is(handed[0]!.to, 'new@example.net')
	const mails = await query(
		`select "to", "from", from_name, reply_to, subject, body, language, type, source_type, status, attempt,
			attempt_started_at, first_attempt_at from emails`,
	)
	t.deepEqual(mails, [
		{
			to: 'new@example.net',
			from: null,
			from_name: null,
			reply_to: null,
			subject: 'Hello Eve',
			body: null,
			language: null,
			type: null,
			source_type: null,
			status: 'SENT',
			attempt: 1,
			attempt_started_at: null,
			first_attempt_at: null,
		},
	])
	const shown = {
		from: 'news@example.com',
		fromName: 'Test project',
		replyTo: 'reply@example.com',
		subject: 'Hello Eve',
	}
	const [listed] = (await request('GET', '/emails')).json().data
	t.like(listed, shown)
	t.like((await request('GET', `/emails/${listed.id}`)).json(), shown)
	t.deepEqual(await query('select from audience_pages'), [])
})

test('a campaign mail shows what its row leaves out', async (t) => {
	const { id, send, pool, mails, request } = await sendingCampaign(t, 1)
	await send(campaignWorker(pool, scriptedProvider().provider))
	const [mail] = await mails()
	const { createdAt, sentAt, ...shown } = (await request('GET', `/emails/${mail!.id}`)).json()
	t.like(shown, {
		campaignId: id,
		headers: {},
		opens: 0,
		clicks: 0,
		prefetches: 0,
		updatedAt: sentAt,
		attempts: [{ at: createdAt, outcome: 'SENT' }],
	})
})

test('a mail that waits for another try keeps the time of its first', async (t) => {
	const { send, pool, query } = await sendingCampaign(t, 1)
	const notNow = { kind: 'DEFERRED', error: '451 not now', retryAfterMs: 60_000 } as const
	await send(campaignWorker(pool, scriptedProvider(() => notNow).provider))
	t.deepEqual(
		await query(
			'select status, attempt_started_at = created_at as latest, first_attempt_at = created_at as first from emails',
		),
		[{ status: 'PENDING', latest: true, first: true }],
	)
})

test('whoever left, was suppressed or deleted before their mail was born gets none, and is counted', async (t) => {
	const { id, send, pool, query, project, states, progress, request, act, activities, mails } =
		await sendingCampaign(t, 5)
	await query(`update contacts set subscribed = false where email = 'user0@example.net'`)
	await query(
		`insert into suppressions (project_id, email, reason) values ($1, 'user1@example.net', 'MANUAL')`,
		[project.id],
	)
	const [third] = await query<{ id: string }>(
		`select id from contacts where email = 'user2@example.net'`,
	)
	t.is((await request('DELETE', `/contacts/${third!.id}`)).statusCode, 204)
	t.like(await progress(id), { total: 5, pending: 5 })
	const { provider, handed } = scriptedProvider()
	t.like(await send(campaignWorker(pool, provider)), { settled: 5, left: 0 })
	t.deepEqual(handed.map(({ to }) => to).toSorted(), ['user3@example.net', 'user4@example.net'])
	t.deepEqual(await states(id), { CANCELLED: 2, SENT: 2, SUPPRESSED: 1 })
	t.like(await progress(id), { total: 5, sent: 2, skipped: 3, pending: 0 })
	t.deepEqual(
		(await mails()).flatMap(({ to, error }) => (error === null ? [] : [[to, error]])),
		[
			['user0@example.net', 'The contact is not subscribed'],
			['user1@example.net', 'The address is on the suppression list: MANUAL'],
			['user2@example.net', 'The contact was deleted'],
		],
	)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
})

test('a contact that is deleted while its mail is being born gets none', async (t) => {
	const { id, send, pool, states } = await sendingCampaign(t, 3)
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	await db.query('begin')
	await db.query(`delete from contacts where email = 'user1@example.net'`)
	const { provider, handed } = scriptedProvider()
	const sending = send(campaignWorker(pool, provider))
	await lockWaits(t, pool, 1)
	await db.query('commit')
	t.like(await sending, { settled: 3, left: 0 })
	t.is(handed.length, 2)
	t.deepEqual(await states(id), { CANCELLED: 1, SENT: 2 })
})

test('mails leave while the rest of the audience is being frozen', async (t) => {
	const { contacts, create, call, pool, project, act, activities, progress, states } =
		await openCampaigns(t)
	await contacts(20_100)
	const { id } = await create()
	await call('POST', `/${id}/send`)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise', lanes: 4 })
	t.true(await freezeChunk(pool, project.id, id, 20_000))
	const { provider, handed } = scriptedProvider()
	const worker = campaignWorker(pool, provider)
	const first = worker.send(project.id, id, 3)
	while (handed.length < 1000) {
		const now = await progress(id)
		t.is(sumOf(now), now.total)
		t.is(now.total, 20_100)
	}
	await act(activities.materialiseCampaign, id)
	// A turn may end before the lane does.
	let { settled, left } = await first
	while (left > 0) {
		const more = await worker.send(project.id, id, 3)
		settled += more.settled
		left = more.left
	}
	t.deepEqual(await states(id), { SENT: settled, 'TO COME': 20_100 - settled })
})

test('recipients without a mail are listed as PENDING, in one order with the others', async (t) => {
	const { id, send, pool, call, query, contacts, frozen } = await sendingCampaign(t, 7)
	const list = async (more = '') => {
		const found: { email: string; emailId: string | null; status: string }[] = []
		for (let cursor = '', left = true; left;) {
			const answer = await call('GET', `/${id}/recipients?limit=2${more}${cursor}`)
			t.is(answer.statusCode, 200, answer.body)
			const page = answer.json()
			found.push(...page.data)
			cursor = `&cursor=${page.cursor}`
			left = page.hasMore
		}
		return found.map(({ email, emailId, status }) => [email[4], status, emailId !== null])
	}
	const total = async (more = '') =>
		(await call('GET', `/${id}/recipients?limit=2${more}`)).json().total
	const numbers = ['0', '1', '2', '3', '4', '5', '6']
	t.deepEqual(
		await list(),
		numbers.map((n) => [n, 'PENDING', false]),
	)
	// The second mail of a turn would wait for minutes.
	await query('update projects set send_rate_per_second = 0.01')
	for (let turn = 0; turn < 2; turn++) {
		await query('delete from send_budgets')
		const { provider } = scriptedProvider(() => worker.stop())
		const worker = campaignWorker(pool, provider)
		await send(worker)
	}
	t.is(await total('&status=SENT'), 2)
	t.deepEqual(
		await list(),
		numbers.map((n) => (Number(n) < 2 ? [n, 'SENT', true] : [n, 'PENDING', false])),
	)
	t.is(await total(), 7)
	t.is(await total('&status=PENDING'), 5)
	t.is((await list('&status=PENDING')).length, 5)
	t.is((await list('&status=FAILED')).length, 0)
	await contacts(1, {}, 'more')
	const other = await frozen()
	t.is((await call('GET', `/${other}/recipients`)).json().total, 8)
	t.is((await list()).length, 7)
})

test('mails of a cancelled campaign that were never born are CANCELLED', async (t) => {
	const { id, call, act, activities, states, progress } = await sendingCampaign(t, 1200)
	await call('POST', `/${id}/cancel`)
	t.like(await progress(id), { total: 1200, pending: 0, skipped: 1200 })
	t.is((await call('GET', `/${id}/recipients`)).json().data[0].status, 'CANCELLED')
	t.like(await act(activities.advanceCampaign, id), { act: 'cancel' })
	await act(activities.cancelRecipients, id)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'cancelled' })
	t.deepEqual(await states(id), { CANCELLED: 1200 })
	t.like(await progress(id), { total: 1200, pending: 0, skipped: 1200 })
	t.is((await call('GET', `/${id}/recipients?status=CANCELLED`)).json().total, 1200)
})

test('a worker that stops leaves the rest of a cancellation, and of an audience to be frozen, to the next', async (t) => {
	const { act, activities, call, contacts, create, pool, progress, query, stop } =
		await openCampaigns(t)
	const next = campaignActivities({ pool, stopping: new AbortController().signal })
	await contacts(20_500)
	const { id } = await create()
	t.is((await call('POST', `/${id}/send`)).statusCode, 200)
	stop()
	t.false(await act(activities.materialiseCampaign, id))
	t.true(await act(next.materialiseCampaign, id))
	await call('POST', `/${id}/cancel`)
	await act(activities.cancelRecipients, id)
	const [{ cancelled } = { cancelled: 0 }] = await query<{ cancelled: number }>(
		'select count(*)::int as cancelled from emails',
	)
	t.true(cancelled > 0 && cancelled < 20_500, `${cancelled}`)
	t.like(await act(activities.advanceCampaign, id), { act: 'cancel' })
	await act(next.cancelRecipients, id)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'cancelled' })
	t.like(await progress(id), { total: 20_500, pending: 0, skipped: 20_500 })
})

// Serial, because a mail that waits for ten seconds gets a row in `events` too.
test.serial('a sent mail is its own event, which says all that its mail says', async (t) => {
	const { send, pool, query, request, id: campaignId, mails } = await sendingCampaign(t, 1)
	await send(campaignWorker(pool, scriptedProvider().provider))
	t.deepEqual(await query('select from events'), [])
	const { id } = (await mails())[0]!
	const { sentAt, contactId } = (await request('GET', `/emails/${id}`)).json()
	const data = {
		subject: 'Hello Ann',
		from: 'news@example.com',
		fromName: 'Test project',
		messageId: `<${id}@example.com>`,
		emailId: id,
		templateId: null,
		campaignId,
		sourceType: 'CAMPAIGN',
		sentAt,
	}
	const shown = async () => ({
		listed: (await request('GET', '/events?eventName=email.sent')).json().events[0].data,
		entered: (await request('GET', '/activity?types=email.sent')).json().data[0].metadata,
	})
	t.deepEqual(await shown(), { listed: data, entered: data })
	t.is((await request('DELETE', `/contacts/${contactId}?erase=true`)).statusCode, 204)
	const { subject: _, ...rest } = data
	t.deepEqual(await shown(), { listed: rest, entered: rest })
})
