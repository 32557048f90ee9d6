import test from 'ava'
import { countInTurn, scanWithin } from '../db/timed-reading.ts'
import { transaction } from '../db/transaction.ts'
import { openCampaigns, plan, whole } from './helpers/campaigns.ts'

async function setup(t: Parameters<typeof openCampaigns>[0]) {
	const all = await openCampaigns(t)
	await all.contacts(5, { data: { plan: 'pro' } })
	await all.contacts(2, { subscribed: false, data: { plan: 'pro' } }, 'left')
	await all.contacts(3, {}, 'other')
	await all.query(
		`insert into suppressions (project_id, email, reason) values ($1, 'user0@example.net', 'MANUAL')`,
		[all.project.id],
	)
	const count = async (body: object) => {
		const answer = await all.call('POST', '/audience', body)
		t.is(answer.statusCode, 200, answer.body)
		return answer.json() as object
	}
	return { ...all, count }
}

test('an audience is counted as the campaign with it is, and nothing is stored', async (t) => {
	const { count, create, request, query } = await setup(t)
	const { id } = (
		await request('POST', '/segments', { name: 'Pro', condition: plan('pro') })
	).json()
	const audiences: [object, number][] = [
		[{ audienceType: 'ALL' }, 7],
		[{ audienceType: 'ALL', type: 'TRANSACTIONAL' }, 9],
		[{ audienceType: 'SEGMENT', segmentId: id }, 4],
		[{ audienceType: 'FILTERED', audienceCondition: plan('pro'), type: 'TRANSACTIONAL' }, 6],
	]
	for (const [audience, expected] of audiences)
		t.deepEqual(
			await count(audience),
			{ count: expected, isCounted: true },
			JSON.stringify(audience),
		)
	t.deepEqual(await query('select from campaigns'), [])
	for (const [audience, expected] of audiences)
		t.is((await create(audience)).totalRecipients, expected)
})

test('an audience that is incomplete or names a segment that does not exist is refused', async (t) => {
	const { call } = await setup(t)
	const fields = async (body: object) => {
		const answer = await call('POST', '/audience', body)
		t.is(answer.statusCode, 422, answer.body)
		return answer.json().error.errors.map(({ field }: { field: string }) => field)
	}
	t.deepEqual(await fields({}), ['audienceType'])
	t.deepEqual(await fields({ audienceType: 'SEGMENT' }), ['segmentId'])
	t.deepEqual(await fields({ audienceType: 'FILTERED' }), ['audienceCondition'])
	t.deepEqual(await fields({ audienceType: 'FILTERED', audienceCondition: {} }), [
		'audienceCondition.logic',
		'audienceCondition.groups',
	])
	const gone = { audienceType: 'SEGMENT', segmentId: crypto.randomUUID() }
	t.is((await call('POST', '/audience', gone)).statusCode, 404)
})

// Serial: the other tests would take some of the turns of this process.
test.serial(
	'while many counts of a project are under way, its campaigns are not saved or sent, and those of others are saved',
	async (t) => {
		const { call, create, otherProject, pool, project } = await openCampaigns(t)
		const { id } = await create()
		const other = await otherProject()
		let finish = () => {}
		const finished = new Promise<void>((resolve) => (finish = resolve))
		t.teardown(() => finish())
		const many = Promise.all(
			Array.from({ length: 52 }, () => scanWithin(pool, project.id, 5000, () => finished)),
		)
		const theirs = { ...whole, from: 'news@example.org' }
		const [saved, ...refused] = await Promise.all([
			call('POST', '', theirs, other.withSecretKey),
			call('POST', '', whole),
			call('PUT', `/${id}`, { audienceType: 'ALL' }),
			call('POST', `/${id}/duplicate`),
			call('POST', `/${id}/send`),
		])
		t.is(saved.statusCode, 201)
		for (const answer of refused) {
			t.is(answer.statusCode, 503)
			t.is(answer.headers['retry-after'], '5')
		}
		finish()
		await many
		t.is((await call('POST', '', whole)).statusCode, 201)
	},
)

// Serial: the other tests would take some of the turns of this process.
test.serial(
	'while other projects count for half a minute, campaigns are counted, saved and sent without delay',
	async (t) => {
		const { call, contacts, pool } = await openCampaigns(t)
		await contacts(3)
		const theirs = ['one project', 'another', 'a third', 'a fourth'].flatMap((other) => [
			other,
			other,
		])
		const slow = 'select pg_sleep(30)'
		let isOver = false
		const count = (other: string) =>
			countInTurn(other, (limit) =>
				transaction(pool, async (db) => isOver || db.query(slow), limit),
			)
		const counting = Promise.allSettled(theirs.map(count))
		const audience = await call('POST', '/audience', { audienceType: 'ALL' })
		t.is(audience.statusCode, 200, audience.body)
		const created = await call('POST', '', whole)
		t.is(created.statusCode, 201, created.body)
		const { id } = created.json<{ data: { id: string } }>().data
		t.is((await call('POST', `/${id}/send`)).statusCode, 200)
		isOver = true
		await pool.query('select pg_cancel_backend(pid) from pg_stat_activity where query = $1', [slow])
		await counting
	},
)
