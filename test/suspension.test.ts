import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { suspensionActivities } from '../activities/suspensions.ts'
import { until } from '../bench/load.ts'
import { platformProjectId } from '../db/emails/platform-mail.ts'
import { settleByEvent } from '../db/reputation/evidence.ts'
import { restartSuspensions, unfinishedSuspensions } from '../db/reputation/lost-suspensions.ts'
import { setupReputation } from './helpers/reputation.ts'

type Counts = [ago: string, total: number, bounces: number, complaints: number]
interface Limit {
	name: string
	last: 'bounce' | 'complain'
	/** The project's age in days. */
	age?: number
	below: Counts
	at: Counts
}
const limits: Limit[] = [
	{ name: '10 % bounces in 7 days', last: 'bounce', below: ['6 days', 1001, 99, 0], at: ['6 days', 1000, 99, 0] },
	{ name: '100 mails in 7 days', last: 'bounce', below: ['6 days', 99, 40, 0], at: ['6 days', 100, 40, 0] },
	{ name: '8 % bounces of all time', last: 'bounce', below: ['50 days', 1001, 79, 0], at: ['50 days', 1000, 79, 0] },
	{ name: '10 bounces of all time', last: 'bounce', below: ['50 days', 100, 8, 0], at: ['50 days', 100, 9, 0] },
	{ name: '0.15 % complaints in 7 days', last: 'complain', below: ['1 day', 2001, 0, 2], at: ['1 day', 2000, 0, 2] },
	{ name: '3 complaints in 7 days', last: 'complain', below: ['1 day', 1000, 0, 1], at: ['1 day', 1000, 0, 2] },
	{ name: '0.12 % complaints of all time', last: 'complain', below: ['50 days', 4168, 0, 4], at: ['50 days', 4166, 0, 4] },
	{ name: '5 complaints of all time', last: 'complain', below: ['50 days', 2000, 0, 3], at: ['50 days', 2000, 0, 4] },
	{ name: '25 bounces of a new project in a day', last: 'bounce', age: 29, below: ['2 hours', 9000, 23, 0], at: ['2 hours', 9000, 24, 0] },
	{ name: '50 bounces of a new project in 7 days', last: 'bounce', age: 29, below: ['2 days', 9000, 48, 0], at: ['2 days', 9000, 49, 0] },
	{ name: '7 complaints of a new project in a day', last: 'complain', age: 29, below: ['2 hours', 90_000, 0, 5], at: ['2 hours', 90_000, 0, 6] },
	{ name: '20 complaints of a new project in 7 days', last: 'complain', age: 29, below: ['2 days', 90_000, 0, 18], at: ['2 days', 90_000, 0, 19] },
	{ name: 'a project that is new no more', last: 'bounce', age: 31, below: ['2 hours', 9000, 200, 0], at: ['2 hours', 900, 200, 0] },
] // prettier-ignore

test('a project is suspended at each of the limits, and not before', async (t) => {
	const { past, age, disabled, execute, reputation, ...act } = await setupReputation(t)
	for (const limit of limits)
		for (const isReached of [false, true]) {
			const counts = isReached ? limit.at : limit.below
			const about = `${limit.name}: ${counts.join()}`
			await execute('delete from reputation_tallies')
			await execute('delete from reputation_counts')
			await execute('delete from suppressions')
			await execute('update projects set disabled_reason = null')
			await age(limit.age ?? 60)
			// A long good history, so that only the last days count.
			if (!limit.name.endsWith('all time')) await past('40 days', 1_000_000, 0, 0)
			await past(...counts)
			await act[limit.last]()
			t.is(await disabled(), isReached ? 'EMAIL_REPUTATION' : null, about)
			const { status, isDisabled } = await reputation()
			t.is(status.shouldDisable, isReached, about)
			t.is(isDisabled, isReached)
			t.is(status.isNewProject, (limit.age ?? 60) < 30)
		}
})

test('a transient bounce does not affect the reputation', async (t) => {
	const { past, disabled, bounced, handedOver, reputation } = await setupReputation(t)
	await past('1 day', 1000, 500, 0)
	await bounced(await handedOver(), 'Transient')
	t.is(await disabled(), null)
	t.like((await reputation()).status.allTime, { total: 1000, bounces: 500 })
})

test('of simultaneous bounces the second sees the first: a crossed threshold is never missed', async (t) => {
	const { past, disabled, handedOver, execute, pool, project } = await setupReputation(t)
	await past('40 days', 1_000_000, 0, 0)
	await past('1 day', 1000, 98, 0)
	const mails = [
		await handedOver('SENT', 'a@example.org'),
		await handedOver('SENT', 'b@example.org'),
	]
	const [first, second] = [await pool.connect(), await pool.connect()]
	const evidence = {
		kind: 'BOUNCED' as const,
		bounceType: 'Permanent' as const,
		at: new Date().toISOString(),
		error: null,
		link: null,
	}
	const bounceOf = (index: 0 | 1) => {
		const { id, resendId } = mails[index]!
		return {
			eventId: resendId,
			projectId: project.id,
			emailId: id,
			providerMessageId: resendId,
			evidence: { ...evidence, providerMessageId: resendId },
		}
	}
	try {
		await first.query('begin')
		await settleByEvent(first, bounceOf(0))
		let isDone = false
		const other = settleByEvent(second, bounceOf(1)).then(() => (isDone = true))
		const waiting = async () =>
			(
				await execute(`select 1 from pg_locks where locktype = 'advisory'
				and not granted and database = (select oid from pg_database where datname = current_database())`)
			).length > 0
		t.true(await until(async () => isDone || (await waiting()), 10_000))
		await first.query('commit')
		await other
	} finally {
		first.release()
		second.release()
	}
	t.is(await disabled(), 'EMAIL_REPUTATION')
	t.is((await execute('select 1 from suspensions')).length, 1)
	t.is((await execute(`select 1 from outbox where workflow_type = 'suspendProject'`)).length, 1)
})

test('waiting mail is cancelled and the members are notified once, however often it is tried', async (t) => {
	const { past, bounce, sent, execute, app, withSecretKey, pool, mails, newProject } =
		await setupReputation(t)
	const other = await newProject('other.example')
	const send = (headers: Record<string, string>, from: string) =>
		app.inject({
			method: 'POST',
			url: '/v1/send',
			headers,
			payload: { to: 'b@example.org', from, subject: 'Hi', body: 'x' },
		})
	t.is((await send(other.withSecretKey, 'a@other.example')).statusCode, 200)
	const waiting = [await sent(), await sent({ to: ['x@example.org', 'y@example.org'] })]
	await past('1 day', 1000, 500, 0)
	await bounce()
	const [row] = await execute<{ payload: { projectId: string; suspensionId: string } }>(
		`select payload from outbox where workflow_type = 'suspendProject'`,
	)
	const { stopCampaigns, cancelQueuedMail, tellMembers } = suspensionActivities({
		pool,
		relay: { wake() {} },
		settings: { platformFrom: 'noreply@tempost.example' },
	})
	const run = <T>(activity: (key: never) => Promise<T>) =>
		new MockActivityEnvironment().run(activity as never, row!.payload) as Promise<T>
	for (let times = 0; times < 2; times++) {
		t.is(await run(stopCampaigns), 0)
		t.is(await run(cancelQueuedMail), times === 0 ? 3 : 0)
		await run(tellMembers)
	}
	const all = await mails()
	const cancelled = all.filter(({ status }) => status === 'CANCELLED')
	t.is(cancelled.length, 3)
	for (const { id } of waiting) t.true(cancelled.some((mail) => mail.id === id))
	t.is(cancelled[0]!.error, 'The project is disabled: EMAIL_REPUTATION')
	t.is(all.find(({ projectId }) => projectId === other.project.id)!.status, 'PENDING')
	const told = all.filter(({ projectId }) => projectId === platformProjectId)
	t.deepEqual(told.map(({ to }) => to).sort(), ['member@example.com', 'owner@example.com'])
	t.like(told[0], { from: 'noreply@tempost.example', status: 'PENDING' })
	t.regex(told[0]!.body!, /could not be delivered/)

	const refused = await send(withSecretKey, 'app@example.com')
	t.is(refused.json().error.code, 'PROJECT_DISABLED')
})

test('a suspension that Temporal has lost is carried out anyway', async (t) => {
	const { past, bounce, execute, pool } = await setupReputation(t)
	await past('1 day', 1000, 500, 0)
	await bounce()
	const lost = () => unfinishedSuspensions(pool, { limit: 10 })
	t.deepEqual(await lost(), [])
	await execute(`update suspensions set at = now() - interval '6 minutes'`)
	t.deepEqual(await lost(), [], 'Temporal is still to be told')
	await execute('update outbox set done_at = now()')
	const found = await lost()
	t.is(found.length, 1)
	await restartSuspensions(pool, { runs: found, taskQueue: 'core' })
	const rows = await execute('select workflow_type, workflow_id, payload from outbox')
	t.is(rows.length, 2)
	t.deepEqual(rows[1], rows[0])
	t.deepEqual(await lost(), [])
	await execute('update outbox set done_at = now()')
	await execute('update suspensions set told_at = now()')
	t.deepEqual(await lost(), [])
})

test('a project that was enabled again in time keeps its waiting mail', async (t) => {
	const { past, bounce, execute, pool, sent, mails, project } = await setupReputation(t)
	const { id } = await sent()
	await past('1 day', 1000, 500, 0)
	await bounce()
	const [row] = await execute<{ payload: { projectId: string; suspensionId: string } }>(
		`select payload from outbox where workflow_type = 'suspendProject'`,
	)
	await pool.query('update projects set disabled_reason = null where id = $1', [project.id])
	const { cancelQueuedMail } = suspensionActivities({
		pool,
		relay: { wake() {} },
		settings: { platformFrom: 'noreply@tempost.example' },
	})
	t.is(await new MockActivityEnvironment().run(cancelQueuedMail, row!.payload), 0)
	t.is((await mails()).find((mail) => mail.id === id)!.status, 'PENDING')
})
