import test from 'ava'
import { platformProjectId } from '../db/emails/platform-mail.ts'
import { setupReputation } from './helpers/reputation.ts'

test('the security page shows the windows, warnings and violations', async (t) => {
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

test('folding the counts changes no sum, even beside other writers and folders', async (t) => {
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

test('our own mails are not counted, and suppress no address', async (t) => {
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
