import type { ExecutionContext } from 'ava'
import { User } from '../../db/accounts/user.ts'
import { Domain } from '../../db/domains/domain.ts'
import { setup, testSettings } from './app.ts'
import { addMember, createUser } from './people.ts'
import { startStripe, stripeEvent, stripeSecret } from './stripe-fake.ts'

/**
 * A project with two members on a service that bills through a fake of Stripe. Its admin makes the
 * requests.
 */
export async function setupBilling(t: ExecutionContext, options?: { metered?: boolean }) {
	const fake = await startStripe(t, options)
	const { features } = testSettings()
	const settings = {
		stripe: fake.stripe,
		stripeWebhookSecret: stripeSecret,
		features: { ...features, billing: true },
	}
	const context = await setup(t, { settings })
	const { app, orm, pool, project, withSecretKey } = context
	const em = orm.em.fork()
	em.create(Domain, { projectId: project.id, domain: 'example.com', verifiedAt: new Date() })
	// Logging in is slow, so a user who makes no requests doesn't.
	const member = em.create(User, { email: 'member@example.org' })
	await em.flush()
	await addMember(orm, project, member, 'MEMBER')
	const person = async (email: string, role: 'OWNER' | 'ADMIN' | 'MEMBER') => {
		const { user, headers } = await createUser(app, orm, email)
		await addMember(orm, project, user, role)
		return { headers }
	}
	const admin = await person('admin@example.org', 'ADMIN')

	const route = (
		method: 'GET' | 'POST' | 'PUT',
		name: string,
		payload?: object,
		headers = admin.headers,
	) =>
		app.inject({
			method,
			url: `/users/@me/projects/${project.id}/${name}`,
			headers,
			...(payload ? { payload } : {}),
		})
	const execute = async <T = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
		(await pool.query(sql, values)).rows as T[]
	return {
		...context,
		admin,
		person,
		...fake,
		settings,
		route,
		execute,
		send: (changes: object = {}, headers: object = withSecretKey) =>
			app.inject({
				method: 'POST',
				url: '/v1/send',
				headers: headers as Record<string, string>,
				payload: {
					to: 'a@example.org',
					from: 'app@example.com',
					subject: 'Hi',
					body: 'x',
					...changes,
				},
			}),
		/** The customer that the first checkout creates. */
		customer: async () => {
			t.is((await route('POST', 'checkout')).statusCode, 200)
			const [row] = await execute<{ id: string }>(
				'select customer_id as id from billing_accounts where project_id = $1',
				[project.id],
			)
			return row!.id
		},
		/** Posts an event, and returns the answer's status. */
		tell: async (type: string, customer: string | null, more: object = {}) => {
			const answer = await app.inject(stripeEvent(type, customer, more))
			return { status: answer.statusCode, ...answer.json<{ duplicate?: boolean }>() }
		},
		disabled: async () =>
			(
				await execute<{ reason: string | null }>(
					'select disabled_reason as reason from projects where id = $1',
					[project.id],
				)
			)[0]!.reason,
		/** Adds this many mails to this month's usage, as if they had been sent. */
		use: (category: string, used: number) =>
			execute(
				`insert into usage_tallies (project_id, month, category, used, sent)
				values ($1, date_trunc('month', now(), 'UTC')::date, $2, $3, $3)`,
				[project.id, category, used],
			),
	}
}
