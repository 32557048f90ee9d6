import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Pool } from 'pg'
import { until } from '../bench/load.ts'
import { Campaign } from '../db/campaigns/campaign.ts'
import type { Email } from '../db/emails/email.ts'
import { startFolding } from '../db/emails/engagement-fold.ts'
import { createProject } from './helpers/app.ts'
import { addressesIn, link, setupEngagements } from './helpers/engagements.ts'

test('an open is an image that must not be cached, counted with its event', async (t) => {
	const { handedOver, get, fold, mail, events } = await setupEngagements(t)
	const { id, open } = await handedOver()
	const before = Date.now()
	const picture = await get(open)
	t.is(picture.statusCode, 200)
	t.is(picture.headers['content-type'], 'image/gif')
	t.is(picture.rawPayload.subarray(0, 6).toString(), 'GIF89a')
	t.is(picture.headers['cache-control'], 'no-store')
	t.is(picture.headers['x-robots-tag'], 'noindex, nofollow')
	t.is(picture.headers['cross-origin-resource-policy'], 'cross-origin')

	t.deepEqual(await fold(), { folded: 1, emitted: 1, hasMore: false })
	t.deepEqual(await fold(), { folded: 0, emitted: 0, hasMore: false })
	const { openedAt, ...rest } = await mail(id)
	t.like(rest, { status: 'OPENED', opens: 1, clicks: 0, clickedAt: null, prefetches: 0 })
	t.true(openedAt!.getTime() >= before && openedAt!.getTime() <= Date.now())
	const [event] = await events()
	t.like(event, { name: 'email.open', emailId: id })
	const { sentAt, ...data } = event!.data
	t.regex(String(sentAt), /Z$/)
	t.deepEqual(data, {
		subject: 'Hello',
		from: 'app@example.com',
		fromName: 'Test project',
		messageId: `<${id}@example.com>`,
		emailId: id,
		templateId: null,
		campaignId: null,
		sourceType: 'TRANSACTIONAL',
		openedAt: openedAt!.toISOString(),
		opens: 1,
		isFirstOpen: true,
	})
})

test('a click leads where the link led, and shows that the mail was read', async (t) => {
	const { handedOver, get, fold, mail, events } = await setupEngagements(t)
	const { id, click, open } = await handedOver()
	const answer = await get(click)
	t.is(answer.statusCode, 302)
	t.is(answer.headers.location, link)
	t.is(answer.headers['cache-control'], 'no-store')

	await fold()
	const { openedAt, clickedAt, ...rest } = await mail(id)
	t.like(rest, { status: 'CLICKED', opens: 0, clicks: 1 })
	t.deepEqual(openedAt, clickedAt)
	const [event] = await events()
	t.is(event!.name, 'email.click')
	t.like(event!.data, { link, clicks: 1, isFirstClick: true, clickedAt: clickedAt!.toISOString() })

	// The first picture comes after it.
	await get(open)
	await fold()
	t.like(await mail(id), { status: 'CLICKED', opens: 1, clicks: 1, openedAt })
	t.like((await events())[1]!.data, { opens: 1, isFirstOpen: true })
})

test('a click has its link although the subject of the mail has rendered as nothing', async (t) => {
	const { handedOver, get, fold, events, orm, project } = await setupEngagements(t)
	const [campaignId] = await orm.em.fork().insertMany(Campaign, [aCampaign(project.id)])
	const single = await handedOver({ subject: '' })
	const ofCampaign = { campaignId: campaignId!, subject: '', body: null, headers: null }
	for (const { click } of [single, await handedOver(ofCampaign)]) await get(click)
	await fold()
	t.deepEqual(
		(await events()).map(({ data }) => data['link']),
		[link, link],
	)
})

test('every open and click is counted once, even with several counters', async (t) => {
	const { handedOver, get, pool, fold, mail, events, waiting } = await setupEngagements(t)
	const mails = [await handedOver(), await handedOver(), await handedOver()]
	const folders = [1, 2, 3].map(() =>
		startFolding({
			pool,
			relay: { wake: () => {} },
			log: { warn: (_, message) => t.fail(message) },
		}),
	)
	const times = 40
	for (let time = 0; time < times; time++)
		await Promise.all(
			mails.flatMap(({ click, open }) => [get(click), get(open), get(open), fold(3), fold(500)]),
		)
	t.true(await until(async () => (await waiting()) === 0, 10_000))
	for (const stop of folders) await stop()

	const told = await events()
	for (const { id } of mails) {
		t.like(await mail(id), { opens: 2 * times, clicks: times, status: 'CLICKED' })
		const of = (name: string, number: string) =>
			told.filter((e) => e.name === name && e.emailId === id).map(({ data }) => data[number])
		const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
		t.deepEqual(new Set(of('email.open', 'opens')), new Set(upTo(2 * times)))
		t.deepEqual(new Set(of('email.click', 'clicks')), new Set(upTo(times)))
	}
	t.is(told.length, mails.length * 3 * times)
	t.is(
		told.filter(({ data }) => data['isFirstOpen'] || data['isFirstClick']).length,
		mails.length * 2,
	)
})

test('opens that arrive all the time are counted together, twice a second', async (t) => {
	const { handedOver, get, pool, mail, waiting } = await setupEngagements(t)
	const { id, open } = await handedOver()
	let statements = 0
	const counting = {
		query: (asked: { name: string; text: string }) => {
			if (asked.name === 'fold-engagements') statements += 1
			return pool.query(asked)
		},
	} as unknown as Pool
	const log = { warn: (_: object, message: string) => t.fail(message) }
	const beganAt = performance.now()
	const stop = startFolding({ pool: counting, relay: { wake: () => {} }, log })
	const opens = 60
	for (let i = 0; i < opens; i++) await get(open)
	t.true(await until(async () => (await waiting()) === 0, 10_000))
	await stop()
	const seconds = (performance.now() - beganAt) / 1000
	t.like(await mail(id), { opens })
	t.true(statements <= 2 * seconds + 1, `${statements} statements in ${seconds} s`)
})

test('a count that fails halfway is made again, as if nothing had been', async (t) => {
	const { handedOver, get, fold, mail, events, pool } = await setupEngagements(t)
	const { id, click } = await handedOver()
	await get(click)
	await pool.query(`create function fail() returns trigger language plpgsql as
		$$ begin raise 'the server went down'; end $$`)
	await pool.query(`create trigger fail before insert on events execute function fail()`)
	await t.throwsAsync(fold(), { message: /the server went down/ })
	t.like(await mail(id), { clicks: 0, status: 'SENT' })
	await pool.query('drop trigger fail on events')
	t.deepEqual(await fold(), { folded: 1, emitted: 1, hasMore: false })
	t.like(await mail(id), { clicks: 1, status: 'CLICKED' })
	t.is((await events()).length, 1)
})

const moves: [from: Email['status'], afterOpen: string, afterClick: string][] = [
	['SENT', 'OPENED', 'CLICKED'],
	['DELIVERED', 'OPENED', 'CLICKED'],
	['OPENED', 'OPENED', 'CLICKED'],
	['CLICKED', 'CLICKED', 'CLICKED'],
	['BOUNCED', 'BOUNCED', 'BOUNCED'],
	['COMPLAINED', 'COMPLAINED', 'COMPLAINED'],
	['FAILED', 'FAILED', 'FAILED'],
	['UNCERTAIN', 'OPENED', 'CLICKED'],
]
test('no open or click moves a status back', async (t) => {
	const { handedOver, get, fold, mail } = await setupEngagements(t)
	for (const [status, afterOpen, afterClick] of moves) {
		const opened = await handedOver({ status })
		const clicked = await handedOver({ status })
		await Promise.all([get(opened.open), get(clicked.click)])
		await fold()
		t.like(await mail(opened.id), { status: afterOpen, opens: 1 }, status)
		t.like(await mail(clicked.id), { status: afterClick, clicks: 1 }, status)
	}
})

test('an open or click settles doubt, and the mail is reported as sent once', async (t) => {
	const { handedOver, get, fold, mail, events, pool } = await setupEngagements(t)
	const doubtful = { status: 'UNCERTAIN' as const, sentAt: null, error: 'The worker went away' }
	const opened = await handedOver(doubtful)
	const looked = await handedOver(doubtful)
	await pool.query(
		`insert into attempts (project_id, email_id, attempt, at, outcome, error)
		select project_id, id, attempt, attempt_started_at, 'UNKNOWN', error from emails where id = $1`,
		[opened.id],
	)
	await get(opened.open)
	await get(opened.click)
	await get(looked.open, {}, 'HEAD')
	await fold()
	for (const { id, status } of [
		{ ...opened, status: 'CLICKED' },
		{ ...looked, status: 'SENT' },
	]) {
		const settled = await mail(id)
		t.like(settled, { status, error: null })
		t.deepEqual(settled.sentAt, settled.attemptStartedAt)
		const { rows } = await pool.query(
			'select attempt, outcome, error from attempts where email_id = $1',
			[id],
		)
		t.deepEqual(rows, [{ attempt: 1, outcome: 'SENT', error: null }])
	}
	const names = (await events()).map(({ name }) => name).toSorted()
	t.deepEqual(names, ['email.click', 'email.open', 'email.sent', 'email.sent'])
})

test('an open before the hand-over is recorded waits, and lets others pass', async (t) => {
	const { handedOver, get, fold, mail, pool, waiting } = await setupEngagements(t)
	const early = await handedOver({ status: 'SENDING', sentAt: null })
	const other = await handedOver()
	await get(early.open)
	await get(other.open)
	t.like(await fold(1), { folded: 1 })
	t.like(await mail(other.id), { opens: 1 })
	t.like(await mail(early.id), { opens: 0, status: 'SENDING' })
	await pool.query(`update emails set status = 'SENT', sent_at = now() where id = $1`, [early.id])
	await fold()
	t.like(await mail(early.id), { opens: 1, status: 'OPENED' })
	t.is(await waiting(), 0)
})

test('counting does not wait for locks on a mail or its contact', async (t) => {
	const { handedOver, get, fold, mail, pool } = await setupEngagements(t)
	const held = await handedOver()
	const deleted = await handedOver({}, 60, 'bert@example.org')
	const other = await handedOver({}, 60, 'carl@example.org')
	for (const { open } of [held, deleted, other]) await get(open)
	const holder = await pool.connect()
	await holder.query('begin')
	await holder.query('select from emails where id = $1 for no key update', [held.id])
	await holder.query(`select from contacts where email = 'bert@example.org' for update`)
	t.like(await fold(), { folded: 1 })
	await holder.query('rollback')
	holder.release()
	t.like(await mail(other.id), { opens: 1 })
	for (const { id } of [held, deleted]) t.like(await mail(id), { opens: 0 })
	await fold()
	for (const { id } of [held, deleted]) t.like(await mail(id), { opens: 1 })
})

test('projects take turns: many opens of one keep none of another waiting', async (t) => {
	const { handedOver, fold, mail, pool, project, orm, waiting } = await setupEngagements(t)
	const { id } = await handedOver()
	const stranger = (await createProject(orm)).project
	const note = (projectId: string, emailId: string, count: number) =>
		pool.query(
			`insert into engagements (project_id, email_id, kind, fetcher, at)
			select $1, $2, 'OPEN', 'PERSON', now() from generate_series(1, $3::int)`,
			[projectId, emailId, count],
		)
	await note(stranger.id, randomUUID(), 600)
	await note(project.id, id, 3)
	t.like(await fold(20), { folded: 13, emitted: 3, hasMore: true })
	t.like(await mail(id), { opens: 3 })
	const stop = startFolding({
		pool,
		relay: { wake: () => {} },
		log: { warn: (_, message) => t.fail(message) },
	})
	t.true(await until(async () => (await waiting()) === 0, 10_000))
	await stop()
})

test("a campaign's link counts for its mails alone, and never for a stranger", async (t) => {
	const { handedOver, get, fold, mail, pool, project, orm, waiting } = await setupEngagements(t)
	const [ours, theirs] = await orm.em
		.fork()
		.insertMany(Campaign, [aCampaign(project.id), aCampaign(project.id)])
	const one = await handedOver({ campaignId: ours! })
	const two = await handedOver({ campaignId: theirs! })
	const single = await handedOver()
	const signed = addressesIn({ id: one.id, projectId: project.id, subject: '' }, ours)
	const stranger = (await createProject(orm)).project
	const elsewhere = addressesIn({ id: one.id, projectId: stranger.id, subject: '' }, ours)
	await get(signed.open)
	await get(signed.open.replace(one.id, two.id))
	await get(signed.open.replace(one.id, single.id))
	await get(signed.open.replace(one.id, randomUUID()))
	await get(elsewhere.open)
	t.is(await waiting(), 1)
	t.like(await fold(), { folded: 1, emitted: 1, hasMore: false })
	t.like(await mail(one.id), { opens: 1 })
	for (const { id } of [two, single]) t.like(await mail(id), { opens: 0, prefetches: 0 })

	// Nothing is stored for a project that is being deleted.
	await pool.query('update projects set deleted_at = now() where id = $1', [project.id])
	t.is((await get(signed.click)).statusCode, 302)
	t.deepEqual(await fold(), { folded: 0, emitted: 0, hasMore: false })
})

test("a campaign's numbers say how many opened, clicked and left", async (t) => {
	const { handedOver, get, fold, app, orm, project, withSecretKey, mail } =
		await setupEngagements(t)
	const [campaignId] = await orm.em.fork().insertMany(Campaign, [aCampaign(project.id)])
	const addresses = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.org`)
	const mails = []
	for (const to of addresses) mails.push(await handedOver({ campaignId: campaignId! }, 60, to))
	const [opener, clicker, leaver, looker] = mails
	for (const { open } of [opener!, opener!, clicker!]) await get(open)
	await get(clicker!.click)
	await get(leaver!.click)
	await get(looker!.open, {}, 'HEAD')
	await fold()
	const { contactId } = await mail(leaver!.id)
	await app.inject({ method: 'POST', url: `/subscribe/${contactId}` })
	await app.inject({ method: 'POST', url: `/unsubscribe/${contactId}?e=${leaver!.id}` })
	const stats = await app.inject({ url: `/campaigns/${campaignId}/stats`, headers: withSecretKey })
	t.like(stats.json(), {
		sentCount: 5,
		openedCount: 3,
		clickedCount: 2,
		unsubscribedCount: 1,
		openRate: 60,
		clickRate: 40,
	})
})

const aCampaign = (projectId: string) => ({
	projectId,
	name: 'Sale',
	subject: '',
	body: '',
	from: 'app@example.com',
	audienceType: 'ALL' as const,
})
