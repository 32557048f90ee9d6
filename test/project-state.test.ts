import test, { type ExecutionContext } from 'ava'
import { webhookKeys } from '../db/projects/webhook-secret.ts'
import { Domain } from '../db/domains/domain.ts'
import { setup } from './helpers/app.ts'
import { addMember, createUser } from './helpers/people.ts'

async function setupOwner(t: ExecutionContext) {
	const context = await setup(t)
	const { app, orm, project } = context
	const { user, headers } = await createUser(app, orm, 'owner@example.org')
	await addMember(orm, project, user, 'OWNER')
	const call = async (method: 'GET' | 'POST', url: string) =>
		(await app.inject({ method, url: url.replace('{id}', project.id), headers })).json()
	return { ...context, call }
}

test('a project says how far it has come', async (t) => {
	const { orm, pool, project, call } = await setupOwner(t)
	const state = () => call('GET', '/projects/{id}/setup-state')
	t.deepEqual(await state(), {
		hasSubscription: false,
		hasVerifiedDomain: false,
		hasPostalAddress: false,
		contactCount: 0,
		lastCampaignSentAt: null,
		hasEnabledWorkflow: false,
	})
	const em = orm.em.fork()
	em.create(Domain, { projectId: project.id, domain: 'example.com', verifiedAt: null })
	await em.flush()
	await pool.query(
		`insert into contacts (project_id, email, subscribed) values ($1, 'a@example.org', true), ($1, 'b@example.org', false)`,
		[project.id],
	)
	await pool.query(
		`insert into automations (project_id, name, trigger_type) values ($1, 'Off', 'MANUAL')`,
		[project.id],
	)
	t.like(await state(), { hasVerifiedDomain: false, contactCount: 2, hasEnabledWorkflow: false })
	await pool.query('update domains set verified_at = now()')
	await pool.query('update automations set enabled = true')
	await pool.query(`update projects set postal_address = 'Street 1'`)
	await pool.query(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, status, sent_at)
		values ($1, 'One', 'Hi', 'Hi', 'a@example.com', 'ALL', 'SENT', '2026-01-02T03:04:05.678Z'),
			($1, 'Two', 'Hi', 'Hi', 'a@example.com', 'ALL', 'DRAFT', null)`,
		[project.id],
	)
	t.like(await state(), {
		hasVerifiedDomain: true,
		hasPostalAddress: true,
		hasEnabledWorkflow: true,
		lastCampaignSentAt: '2026-01-02T03:04:05.678Z',
	})
})

test('both paths of the security overview return the same, even after a reset', async (t) => {
	const { call, project } = await setupOwner(t)
	const first = await call('GET', '/projects/{id}/security')
	t.deepEqual(await call('GET', '/users/@me/projects/{id}/security'), first)
	const window = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 }
	t.deepEqual(first, {
		status: {
			projectId: project.id,
			isHealthy: true,
			shouldDisable: false,
			twentyFourHour: window,
			sevenDay: window,
			allTime: window,
			isNewProject: true,
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
	await call('POST', '/users/@me/projects/{id}/reset')
	t.deepEqual(await call('GET', '/projects/{id}/security'), first)
})

test('a reset keeps the reputation and the webhook secret', async (t) => {
	const { call, pool, project } = await setupOwner(t)
	const { secret } = await call('GET', '/projects/{id}/webhook-secret')
	await pool.query(
		`insert into reputation_counts (project_id, hour, total, bounces, complaints)
		values ($1, date_trunc('hour', now()), 200, 30, 0)`,
		[project.id],
	)
	await pool.query(
		`insert into suspensions (project_id, reason, lifted_at) values ($1, 'MANUAL', now() - interval '1 year')`,
		[project.id],
	)
	const before = await call('GET', '/projects/{id}/security')
	t.is(before.levels.bounce7Day, 'critical')
	t.is(before.recentSuspensions.length, 1)
	await call('POST', '/users/@me/projects/{id}/reset')
	t.deepEqual(await call('GET', '/projects/{id}/security'), before)
	t.deepEqual(await call('GET', '/projects/{id}/webhook-secret'), { secret })
})

test('the secret of webhooks stays until it is changed', async (t) => {
	const { call } = await setupOwner(t)
	const first = await call('GET', '/projects/{id}/webhook-secret')
	t.regex(first.secret, /^whsec_[A-Za-z0-9+/]{32}$/)
	t.deepEqual(await call('GET', '/projects/{id}/webhook-secret'), first)
	const second = await call('POST', '/projects/{id}/webhook-secret')
	t.not(second.secret, first.secret)
	t.deepEqual(await call('GET', '/projects/{id}/webhook-secret'), second)
})

test('after changes the secrets of webhooks before sign along for a day', async (t) => {
	const { call, pool, project } = await setupOwner(t)
	const { secret: first } = await call('GET', '/projects/{id}/webhook-secret')
	const { secret: second } = await call('POST', '/projects/{id}/webhook-secret')
	const { secret: third } = await call('POST', '/projects/{id}/webhook-secret')
	t.deepEqual(await webhookKeys(pool, project.id), [third, second, first])
	await pool.query(`update webhook_secrets set changed_at = now() - interval '25 hours'`)
	t.deepEqual(await webhookKeys(pool, project.id), [third])
	const { secret: fourth } = await call('POST', '/projects/{id}/webhook-secret')
	t.deepEqual(await webhookKeys(pool, project.id), [fourth, third])
})
