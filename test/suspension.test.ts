import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import { suspensionActivities } from '../activities/suspensions.ts'
import { platformProjectId } from '../db/platform-mail.ts'
import { restartSuspensions, unfinishedSuspensions } from '../db/lost-suspensions.ts'
import { reputation } from '../db/reputation.ts'
import { setupReports } from './helpers/reports.ts'

async function setupReputation(t: ExecutionContext) {
	const all = await setupReports(t)
	const { pool, project, execute, handedOver, report, bounced } = all
	await execute(`insert into users (email) values ('owner@example.com'), ('member@example.com')`)
	await execute(
		`insert into memberships (project_id, user_id, role) select ?, id, 'ADMIN' from users`,
		[project.id],
	)
	return {
		...all,
		/** What was counted in an hour some time ago. */
		past: (ago: string, total: number, bounces: number, complaints: number) =>
			pool.query(
				`insert into reputation_counts values ($1, date_trunc('hour', now() - $2::interval, 'UTC'), $3, $4, $5)`,
				[project.id, ago, total, bounces, complaints],
			),
		age: (days: number) =>
			pool.query(`update projects set created_at = now() - make_interval(days => $1)`, [days]),
		/** The last straw, to a mail that was counted when it was sent. */
		bounce: async () => bounced(await handedOver()),
		complain: async () => report('complained', await handedOver()),
		disabled: async () =>
			(
				await execute<{ disabled_reason: string | null }>(
					'select disabled_reason from projects where id = ?',
					[project.id],
				)
			)[0]!.disabled_reason,
		reputation: () => reputation(pool, project.id),
	}
}

type Counts = [ago: string, total: number, bounces: number, complaints: number]
interface Limit {
	name: string
	last: 'bounce' | 'complain'
	/** Of the project, in days. */
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
			// A long good past, so that only the last days count.
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

test('a transient bounce judges nobody', async (t) => {
	const { past, disabled, bounced, handedOver, reputation } = await setupReputation(t)
	await past('1 day', 1000, 500, 0)
	await bounced(await handedOver(), 'Transient')
	t.is(await disabled(), null)
	t.like((await reputation()).status.allTime, { total: 1000, bounces: 500 })
})

test('of bounces at the same moment each knows of the others: the last straw is never missed', async (t) => {
	const { past, disabled, bounced, handedOver, execute } = await setupReputation(t)
	for (let round = 0; round < 3; round++) {
		await execute('delete from reputation_tallies')
		await execute('delete from reputation_counts')
		await execute('delete from suppressions')
		await execute('update projects set disabled_reason = null')
		await past('1 day', 1000, 96, 0)
		const mails = await Promise.all(
			['a', 'b', 'c', 'd'].map((name) => handedOver('SENT', `${name}@example.org`)),
		)
		await Promise.all(mails.map((mail) => bounced(mail)))
		t.is(await disabled(), 'EMAIL_REPUTATION')
	}
	t.is((await execute('select 1 from suspensions')).length, 3)
	t.is((await execute(`select 1 from outbox where workflow_type = 'suspendProject'`)).length, 3)
})

test('what waits is cancelled and the members are told once, however often it is tried', async (t) => {
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

test('a suspension that Temporal has forgotten is carried out all the same', async (t) => {
	const { past, bounce, execute, pool } = await setupReputation(t)
	await past('1 day', 1000, 500, 0)
	await bounce()
	const lost = () => unfinishedSuspensions(pool, [10])
	t.deepEqual(await lost(), [])
	await execute(`update suspensions set at = now() - interval '6 minutes'`)
	t.deepEqual(await lost(), [], 'Temporal is still to be told')
	await execute('update outbox set done_at = now()')
	const found = await lost()
	t.is(found.length, 1)
	await restartSuspensions(pool, [JSON.stringify(found), 'core'])
	const rows = await execute('select workflow_type, workflow_id, payload from outbox')
	t.is(rows.length, 2)
	t.deepEqual(rows[1], rows[0])
	t.deepEqual(await lost(), [])
	await execute('update outbox set done_at = now()')
	await execute('update suspensions set told_at = now()')
	t.deepEqual(await lost(), [])
})

test('a project that was enabled again meanwhile keeps the mail that waits', async (t) => {
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

test('the security page tells the windows, what is near a limit, and what is beyond', async (t) => {
	const { past, bounce, reputation, project } = await setupReputation(t)
	t.deepEqual(await reputation(), {
		status: {
			projectId: project.id,
			isHealthy: true,
			shouldDisable: false,
			twentyFourHour: none,
			sevenDay: none,
			allTime: none,
			isNewProject: false,
			violations: [],
			warnings: [],
		},
		levels: {
			bounce7Day: 'healthy',
			bounceAllTime: 'healthy',
			complaint7Day: 'healthy',
			complaintAllTime: 'healthy',
		},
		isDisabled: false,
		recentSuspensions: [],
	})
	await past('2 hours', 100, 1, 0)
	await past('3 days', 1000, 99, 1)
	await past('20 days', 3000, 1, 1)
	t.like(await reputation(), {
		status: {
			isHealthy: false,
			shouldDisable: false,
			twentyFourHour: { total: 100, bounces: 1, complaints: 0, bounceRate: 1, complaintRate: 0 },
			sevenDay: {
				total: 1100,
				bounces: 100,
				complaints: 1,
				bounceRate: 9.0909,
				complaintRate: 0.0909,
			},
			allTime: {
				total: 4100,
				bounces: 101,
				complaints: 2,
				bounceRate: 2.4634,
				complaintRate: 0.0488,
			},
			violations: [],
			warnings: ['Bounce rate in 7 days: 9.0909 % (limit 5 %)'],
		},
		levels: { bounce7Day: 'warning', bounceAllTime: 'healthy', complaint7Day: 'healthy' },
	})
	await past('4 days', 0, 50, 0)
	await bounce()
	const told = await reputation()
	t.like(told, { isDisabled: true, levels: { bounce7Day: 'critical' } })
	t.deepEqual(told.status.violations, ['Bounce rate in 7 days: 13.7273 % (limit 10 %)'])
	t.like(told.recentSuspensions, [{ reason: 'EMAIL_REPUTATION', liftedAt: null }])
	t.regex(told.recentSuspensions[0]!.at, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
})

const none = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 }

test('folding the counts changes no sum, beside those who append and those who fold', async (t) => {
	const { pool, project, past, reputation } = await setupReputation(t)
	await past('9 days', 5, 1, 1)
	await past('221 hours', 7, 2, 0)
	const event = `insert into events (project_id, name, data)
		select $1, 'email.sent', '{}' from generate_series(1, 10)`
	for (let round = 0; round < 4; round++)
		await Promise.all(
			Array.from({ length: 6 }, (_, index) =>
				pool.query(index < 4 ? event : 'select fold_reputation($1)', [project.id]),
			),
		)
	await pool.query('select fold_reputation($1)', [project.id])
	t.like((await reputation()).status, {
		twentyFourHour: { total: 160, bounces: 0 },
		allTime: { total: 172, bounces: 3, complaints: 1 },
	})
	const { rows } = await pool.query('select count(*)::int as count from reputation_tallies')
	t.is(rows[0].count, 0)
})

test('our own mails are counted for nobody, and suppress nobody', async (t) => {
	const { pool, execute } = await setupReputation(t)
	await pool.query(
		`with mail as (
			insert into emails (project_id, "to", "from", subject, source_type)
			values ($1, 'anna@example.org', 'noreply@example.com', 'Reset', 'TRANSACTIONAL') returning *
		)
		insert into events (project_id, name, email_id, data)
		select project_id, name, id, '{"bounceType": "Permanent"}'
		from mail, unnest(array['email.sent', 'email.bounce', 'email.complaint']) as name`,
		[platformProjectId],
	)
	for (const table of ['suppressions', 'reputation_tallies', 'suspensions'])
		t.deepEqual(await execute(`select 1 from ${table}`), [])
})
