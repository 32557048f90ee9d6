import test from 'ava'
import type { ExecutionContext } from 'ava'
import { setImmediate as turn } from 'node:timers/promises'
import { openCampaigns } from './helpers/campaigns.ts'
import { cpuMeter } from './helpers/cpu.ts'

interface Mail {
	id: string
	to: string
	body: string | null
}
interface Page {
	data: Mail[]
	cursor?: string
	hasMore: boolean
}

/** A campaign with this many recipients, whose mails are read. */
async function started(t: ExecutionContext, body: string, count: number) {
	const context = await openCampaigns(t)
	const { request, contacts, started } = context
	await contacts(count, { data: { name: 'Ann' } })
	const id = await started({ body })
	const list = async (query = '') => {
		const answer = await request('GET', `/emails?campaignId=${id}${query}`)
		t.is(answer.statusCode, 200, answer.body)
		return answer.json<Page>()
	}
	return {
		...context,
		list,
		/** All pages from the first. */
		async walk(query = '') {
			const pages = [await list(query)]
			for (let last = pages[0]!; last.hasMore; pages.push(last))
				last = await list(`${query}&cursor=${last.cursor}`)
			return pages
		},
	}
}

const idsOf = (pages: Page[]) => pages.flatMap(({ data }) => data.map(({ id }) => id))

test('a mail of a campaign says the same in the list, by itself and when it is resolved', async (t) => {
	const { list, request, query } = await started(t, '<p>Hello {{ name }}, {{ email }}</p>', 25)
	const { data } = await list('&limit=100')
	t.is(data.length, 25)
	for (const { body, to } of data) t.is(body, `<p>Hello Ann, ${to}</p>`)
	const [mail] = data
	t.is((await request('GET', `/emails/${mail!.id}`)).json().body, mail!.body)
	for (const as of ['sent', 'retry']) {
		await query(
			`update emails set status = 'UNCERTAIN', attempt = 1, provider = 'smtp',
				attempt_started_at = '2026-01-31T12:00:00.000Z' where id = $1`,
			[mail!.id],
		)
		const resolved = await request('POST', `/emails/${mail!.id}/resolve`, { as })
		t.is(resolved.statusCode, 200, resolved.body)
		t.is(resolved.json().body, mail!.body)
	}
})

test('rendered bodies count for the size of a page like stored ones', async (t) => {
	const text = `{% for i in (1..5) %}${'x'.repeat(900_000)}{% endfor %}`
	const { walk, query } = await started(t, text, 8)
	await query(`update emails set body = repeat('y', 7000000) where id in (
		select id from emails order by id desc offset 1 limit 2)`)
	const pages = await walk()
	const megabytes = pages.map(({ data }) => data.map(({ body }) => body!.length / 1e6))
	t.deepEqual(megabytes, [
		[4.5, 7],
		[7, 4.5, 4.5],
		[4.5, 4.5, 4.5],
	])
	const ids = idsOf(pages)
	t.is(new Set(ids).size, 8)
	t.deepEqual(ids, ids.toSorted().toReversed())
})

// Serial, so that no other test's work is in its turns.
test.serial(
	'templates that are slow make a page short, and others do not wait for all of it',
	async (t) => {
		// A thousand million iterations: no machine completes them within half a second.
		const turns = (...names: string[]) =>
			names.map((name) => `{% for ${name} in many %}`).join('') +
			'{% endfor %}'.repeat(names.length)
		const slow = `{% assign many = (1..1000) %}${turns('a', 'b', 'c')}`
		const { list, walk } = await started(t, slow, 6)
		let isOver = false
		const beganAt = performance.now()
		const first = list().finally(() => (isOver = true))
		let longestTurn = 0
		while (!isOver) {
			const spent = cpuMeter()
			await turn()
			longestTurn = Math.max(longestTurn, spent())
		}
		const tookMs = performance.now() - beganAt
		const { data, hasMore } = await first
		t.true(hasMore)
		t.true(data.length > 0 && data.length < 6, `${data.length}`)
		t.true(longestTurn < tookMs / 4, `${longestTurn} of ${tookMs} ms`)
		t.is(new Set(idsOf(await walk())).size, 6)
	},
)
