import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { until } from '../bench/load.ts'
import { createEngagementLog } from '../db/emails/engagement-log.ts'
import { startApp, viaProxy } from './helpers/app.ts'
import { link, setupEngagements } from './helpers/engagements.ts'

const agents = {
	browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
	phone: 'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36',
	gmail:
		'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
	apple: 'Mozilla/5.0',
	robot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
}
// The time on arrival is in the future, so that it stays within two seconds on a slow machine.
const fetches: [
	what: string,
	counts: boolean,
	secondsAgo: number,
	headers: object,
	method?: 'HEAD',
][] = [
	['a reader', true, 0, { 'user-agent': agents.browser }],
	['a reader on a phone named after robots', true, 0, { 'user-agent': agents.phone }],
	['a program without a name', true, 0, {}],
	['Gmail for a reader', true, 10, { 'user-agent': agents.gmail }],
	['Gmail on arrival', false, -30, { 'user-agent': agents.gmail }],
	['Apple for a reader', true, 10, { 'user-agent': agents.apple }],
	['Apple on arrival', false, -30, { 'user-agent': agents.apple }],
	['a robot', false, 10, { 'user-agent': agents.robot }],
	[
		'a browser that fetches ahead',
		false,
		10,
		{ 'user-agent': agents.browser, 'sec-purpose': 'prefetch;prerender' },
	],
	['a look without a body', false, 10, { 'user-agent': agents.browser }, 'HEAD'],
]
test('prefetching machines are counted separately and prove nothing', async (t) => {
	const { handedOver, get, fold, mail, events } = await setupEngagements(t)
	for (const [what, counts, secondsAgo, headers, method] of fetches) {
		const { id, open, click } = await handedOver({}, secondsAgo)
		const told = (await events()).length
		t.is((await get(open, headers, method)).statusCode, 200, what)
		t.is((await get(click, headers, method)).headers.location, link, what)
		await fold()
		const expected = counts
			? { opens: 1, clicks: 1, prefetches: 0, status: 'CLICKED' }
			: { opens: 0, clicks: 0, prefetches: 2, status: 'SENT', openedAt: null, clickedAt: null }
		t.like(await mail(id), expected, what)
		t.is((await events()).length - told, counts ? 2 : 0, what)
	}
})

test('an unsigned link shows a page, never redirects, and writes nothing', async (t) => {
	const { handedOver, get, waiting } = await setupEngagements(t)
	const { click, open } = await handedOver()
	const other = await handedOver()
	const evil = encodeURIComponent('https://evil.example')
	const forged = [
		click.replace(/to=.*/, `to=${evil}`),
		`${click}&to=${evil}`,
		click.replace(/\?.*/, ''),
		open.replace('/o/', '/c/'),
		`${open.replace('/o/', '/c/')}?to=`,
		`${open.replace('/o/', '/c/')}?to=${evil}`,
		click.replace('/c/', '/o/'),
		click.replace(/\/[^/]*\?/, `/${other.id}?`),
		open.replace(/[^/]*$/, randomUUID()),
		open.replace(/[^/]*$/, "'"),
	]
	for (const url of forged)
		for (const method of ['GET', 'HEAD'] as const) {
			const answer = await get(url, { 'accept-language': 'de' }, method)
			t.is(answer.statusCode, 404, url)
			t.is(answer.headers.location, undefined, url)
			t.regex(String(answer.headers['content-type']), /^text\/html/)
			if (method === 'GET') t.regex(answer.body, /<html lang="de">.*nirgendwohin/s)
		}
	t.is(await waiting(), 0)
})

test('a click leads on while the database is away, and is counted when it is back', async (t) => {
	const { orm, handedOver, fold, mail } = await setupEngagements(t)
	const { id, click, open } = await handedOver()
	const distant = await viaProxy(t, orm)
	const { app } = await startApp(t, distant.orm)
	const path = (url: string) => new URL(url).pathname + new URL(url).search
	const counted = (clicks: number, opens: number) =>
		until(async () => {
			await fold()
			const now = await mail(id)
			return now.clicks === clicks && now.opens === opens
		}, 20_000)
	await app.inject(path(open))
	t.true(await counted(0, 1))

	distant.cut()
	const answers = Promise.all([app.inject(path(click)), app.inject(path(open))])
	t.not(await Promise.race([answers, sleep(1500, 'late')]), 'late')
	const [answer, picture] = await answers
	t.is(answer.headers.location, link)
	t.is(picture.headers['content-type'], 'image/gif')
	t.true(await counted(0, 1))
	await distant.mend()
	t.true(await counted(1, 2))
})

test('of one mail at most 200 opens and 200 clicks a minute are counted, and all get their answers', async (t) => {
	const { handedOver, get, fold, mail, waiting, events } = await setupEngagements(t)
	const flooded = await handedOver()
	const other = await handedOver()
	const times = (count: number, url: string) =>
		Promise.all(Array.from({ length: count }, () => get(url)))
	for (const picture of await times(203, flooded.open))
		t.is(picture.headers['content-type'], 'image/gif')
	for (const answer of await times(203, flooded.click)) t.is(answer.headers.location, link)
	await times(200, other.open)
	t.true(await until(async () => (await waiting()) >= 600, 10_000))
	await fold(700)
	t.like(await mail(flooded.id), { opens: 200, clicks: 200 })
	t.like(await mail(other.id), { opens: 200, clicks: 0 })
	t.is((await events()).length, 600)
})

test('closing the log waits until everything is written', async (t) => {
	const { pool, project, waiting } = await setupEngagements(t)
	const log = createEngagementLog({ pool, log: { warn: (_, message) => t.fail(message) } })
	const open = { projectId: project.id, campaignId: null, kind: 'OPEN' as const, link: null }
	const holder = await pool.connect()
	await holder.query('begin')
	await holder.query('lock table engagements in exclusive mode')
	for (let i = 0; i < 2500; i++)
		void log.note({ ...open, emailId: randomUUID(), fetcher: 'PERSON', at: new Date() })
	const closed = log.close().then(() => 'closed')
	t.is(await Promise.race([closed, sleep(200, 'not yet')]), 'not yet')
	await holder.query('rollback')
	holder.release()
	await closed
	t.is(await waiting(), 2500)
})
