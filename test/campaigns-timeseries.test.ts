import test, { type ExecutionContext } from 'ava'
import { foldOldTallies } from '../db/campaigns/campaign-counts.ts'
import { openCampaigns } from './helpers/campaigns.ts'

interface Step {
	at: string
	sent: number
	delivered: number
	opened: number
	clicked: number
	bounced: number
	unsubscribed: number
}
const none = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, unsubscribed: 0 }
const began = '2026-03-01T10:30:20Z'

/** A campaign of twenty recipients that began at a known time, and whose changes are dated. */
async function setup(t: ExecutionContext) {
	const context = await openCampaigns(t)
	const { contacts, started, query, call, project, pool } = context
	await contacts(20)
	const id = await started()
	await query('update campaigns set started_at = $1', [began])
	await query('delete from campaign_tallies')
	return {
		...context,
		id,
		steps: async (interval: string) => {
			const answer = await call('GET', `/${id}/timeseries?interval=${interval}`)
			t.is(answer.statusCode, 200, answer.body)
			return answer.json<Step[]>()
		},
		/** Counts as if at this time, as the triggers do. */
		tally: (at: string, counts: Partial<Step>) =>
			query(
				`insert into campaign_tallies (project_id, campaign_id, id, ${Object.keys(counts).join(', ')})
				values ($1, $2, uuidv7($3::timestamptz - clock_timestamp()), ${Object.values(counts).join(', ')})`,
				[project.id, id, at],
			),
		fold: () => foldOldTallies(pool, { limit: 1000 }),
		foldNow: () => query('select fold_campaign_tallies($1, $2)', [project.id, id]),
	}
}

test('the course of a campaign has every step from its start to its latest change', async (t) => {
	const { steps, tally } = await setup(t)
	await tally('2026-03-01T10:30:40Z', { sent: 7 })
	await tally('2026-03-01T10:33:00Z', { sent: 5, delivered: 6 })
	await tally('2026-03-01T12:10:00Z', { opened: 2 })
	await tally('2026-03-03T09:00:00Z', { clicked: 1, unsubscribed: 1 })
	const minutes = await steps('minute')
	t.deepEqual(minutes.slice(0, 4), [
		{ ...none, at: '2026-03-01T10:30:00.000Z', sent: 7 },
		{ ...none, at: '2026-03-01T10:31:00.000Z' },
		{ ...none, at: '2026-03-01T10:32:00.000Z' },
		{ ...none, at: '2026-03-01T10:33:00.000Z', sent: 5, delivered: 6 },
	])
	t.is(minutes.length, 1500)
	const hours = await steps('hour')
	t.deepEqual(
		[hours[0], hours[2], hours.at(-1)],
		[
			{ ...none, at: '2026-03-01T10:00:00.000Z', sent: 12, delivered: 6 },
			{ ...none, at: '2026-03-01T12:00:00.000Z', opened: 2 },
			{ ...none, at: '2026-03-03T09:00:00.000Z', clicked: 1, unsubscribed: 1 },
		],
	)
	t.deepEqual(await steps('day'), [
		{ ...none, at: '2026-03-01T00:00:00.000Z', sent: 12, delivered: 6, opened: 2 },
		{ ...none, at: '2026-03-02T00:00:00.000Z' },
		{ ...none, at: '2026-03-03T00:00:00.000Z', clicked: 1, unsubscribed: 1 },
	])
})

test('the course outlives the folding of its tallies, in both ways', async (t) => {
	for (const way of ['fold', 'foldNow'] as const) {
		const context = await setup(t)
		const { steps, tally, query } = context
		for (let minute = 31; minute < 50; minute++)
			await tally(`2026-03-01T10:${minute}:30Z`, { pending: -2, sent: 2 } as Partial<Step>)
		await tally('2026-03-04T10:31:30Z', { opened: 1 })
		const before = [await steps('minute'), await steps('hour')]
		await context[way]()
		await tally('2026-03-01T10:45:10Z', { sent: 1 })
		await context[way]()
		t.deepEqual(await query('select from campaign_tallies'), [])
		const [minutes, hours] = [await steps('minute'), await steps('hour')]
		t.is(minutes[15]!.sent, before[0]![15]!.sent + 1)
		t.deepEqual(minutes.toSpliced(15, 1), before[0]!.toSpliced(15, 1))
		t.is(hours[0]!.sent, 39)
		t.deepEqual(hours.slice(1), before[1]!.slice(1))
	}
})

test('the steps add up to the figures, and a campaign of years has few slots', async (t) => {
	const { steps, tally, query, foldNow, id, call } = await setup(t)
	const at = (hours: number) => new Date(Date.parse(began) + hours * 3_600_000).toISOString()
	for (let hour = 0; hour < 100; hour++) await tally(at(hour), { opened: 1 })
	for (let second = 0; second < 50; second++)
		await tally(new Date(Date.parse(at(50)) + second * 1000).toISOString(), { opened: 1 })
	await foldNow()
	const sum = (list: Step[]) => list.reduce((total, { opened }) => total + opened, 0)
	t.is(sum(await steps('hour')), 150)
	t.is(sum(await steps('day')), 150)
	t.is((await call('GET', `/${id}/stats`)).json().openedCount, 150)
	const slots = await query('select from campaign_slots')
	t.is(slots.length, 100)
	t.is((await steps('day')).length, 5)
})

test('what is counted on the way is in the course', async (t) => {
	const { contacts, started, written, query, call } = await openCampaigns(t)
	await contacts(3)
	const id = await started()
	t.deepEqual(
		(await call('GET', `/${id}/timeseries?interval=minute`))
			.json()
			.map(({ sent }: Step) => sent)[0],
		0,
	)
	await written(id)
	await query(`update emails set status = 'SENT', sent_at = now()`)
	await query(`update emails set status = 'DELIVERED', delivered_at = now()`)
	const list = (await call('GET', `/${id}/timeseries?interval=day`)).json<Step[]>()
	t.like(list.at(-1), { sent: 3, delivered: 3 })
})

test('a campaign that has not begun has no course, and an unknown one is not found', async (t) => {
	const { create, call } = await openCampaigns(t)
	const { id } = await create()
	t.deepEqual((await call('GET', `/${id}/timeseries`)).json(), [])
	t.is((await call('GET', `/${crypto.randomUUID()}/timeseries`)).statusCode, 404)
	t.is((await call('GET', `/${id}/timeseries?interval=second`)).statusCode, 400)
})
