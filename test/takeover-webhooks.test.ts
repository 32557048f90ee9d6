import test, { type ExecutionContext } from 'ava'
import { endpointSecrets } from '../db/webhooks/webhook-endpoint-records.ts'
import { openedSecret } from '../db/webhooks/webhook-secrets.ts'
import { email, newPassword, setupTrap } from './helpers/account-links.ts'
import { createProject, testSettings } from './helpers/app.ts'
import { cookieOf } from './helpers/people.ts'
import { addedEndpoint, type EndpointJson, takeTurn } from './helpers/webhooks.ts'

const origin = 'http://localhost:3000'

/** The project has a webhook endpoint of the person who signed up. */
async function setupTrappedEndpoint(t: ExecutionContext) {
	const trap = await setupTrap(t)
	const { app, pool, post, project, headers } = trap
	const withKey: Record<string, string> = { authorization: `Bearer ${project.secret}` }
	const add = async () => {
		const body = { url: 'https://example.com/hook', events: ['*'] }
		const added = await post('/webhook-endpoints', body, withKey)
		t.is(added.statusCode, 201)
		return added.json<EndpointJson>()
	}
	const found = await pool.query('select id from projects where public_id = $1', [project.id])
	const projectId = found.rows[0].id as string
	return {
		...trap,
		projectId,
		withKey,
		withSession: { ...headers, 'x-project-id': project.id } as Record<string, string>,
		add,
		async secretsOf(endpointId: string) {
			const [sealed] = await endpointSecrets(pool, { projectId, endpointId })
			const { secret, previousSecrets } = sealed!
			return {
				newest: openedSecret(secret, testSettings().sessionSecret),
				previous: previousSecrets.map((one) => openedSecret(one, testSettings().sessionSecret)),
			}
		},
		async secure() {
			const token = await trap.resetToken()
			t.is((await post('/auth/reset-password', { token, newPassword })).statusCode, 200)
		},
		/** As the new owner sees them. */
		async endpoints() {
			const cookie = cookieOf(await post('/auth/login', { email, password: newPassword }))
			const owner = { cookie, 'x-project-id': project.id, origin }
			return (await app.inject({ url: '/webhook-endpoints', headers: owner })).json<
				EndpointJson[]
			>()
		},
	}
}

test('a first proof disables webhook endpoints and replaces their secrets', async (t) => {
	const { add, post, secretsOf, secure, endpoints, withKey, pool } = await setupTrappedEndpoint(t)
	const [rotated, gone] = [await add(), await add()]
	const path = `/webhook-endpoints/${rotated.id}/rotate-secret`
	const { secret } = (await post(path, {}, withKey)).json<{ secret: string }>()
	t.deepEqual(await secretsOf(rotated.id), { newest: secret, previous: [rotated.secret] })
	await pool.query(
		`update webhook_endpoints set disabled_reason = 'GONE', disabled_at = now() where id = $1`,
		[gone.id],
	)
	await secure()
	t.like(await endpoints(), [
		{ id: gone.id, enabled: false, disabledReason: 'GONE' },
		{ id: rotated.id, enabled: false, disabledReason: 'OWNER', url: 'https://example.com/hook' },
	])
	t.true((await endpoints()).every((one) => 'disabledAt' in one && one.disabledAt !== null))
	const fresh = [await secretsOf(rotated.id), await secretsOf(gone.id)]
	t.true(fresh.every(({ previous }) => previous.length === 0))
	const known = [rotated.secret, secret, gone.secret]
	t.is(new Set([...known, ...fresh.map(({ newest }) => newest)]).size, 5)
})

test('events of an endpoint disabled by a first proof are kept for a replay', async (t) => {
	const { add, post, secure, projectId, pool, withKey } = await setupTrappedEndpoint(t)
	const { id: endpointId } = await add()
	const event = { email: 'c@example.org', event: 'x' }
	t.is((await post('/events/track', event, withKey)).statusCode, 200)
	await secure()
	await takeTurn(pool, { projectId, endpointId })
	const { rows } = await pool.query('select distinct status from webhook_deliveries')
	t.deepEqual(rows, [{ status: 'HELD' }])
})

test('a first proof leaves the webhook endpoints of other projects as they are', async (t) => {
	const { orm, pool, secure } = await setupTrappedEndpoint(t)
	const { project } = await createProject(orm)
	const endpointId = await addedEndpoint(pool, project.id, 'https://example.org/', ['*'])
	const [before] = await endpointSecrets(pool, { projectId: project.id, endpointId })
	await secure()
	t.deepEqual(await endpointSecrets(pool, { projectId: project.id, endpointId }), [before!])
	const { rows } = await pool.query('select disabled_reason from webhook_endpoints')
	t.deepEqual(rows, [{ disabled_reason: null }])
})

for (const caller of ['withKey', 'withSession'] as const)
	for (const action of ['add', 'enable', 'rotate-secret', 'delete'] as const)
		test(`while an account is secured, ${action} ${caller} of a webhook endpoint comes too late`, async (t) => {
			const trap = await setupTrappedEndpoint(t)
			const { id } = await trap.add()
			const url = `/webhook-endpoints/${id}`
			const body = { url: 'https://example.com/late', events: ['*'] }
			const requests = {
				add: { method: 'POST', url: '/webhook-endpoints', payload: body },
				enable: { method: 'PATCH', url, payload: { url: body.url, enabled: true } },
				'rotate-secret': { method: 'POST', url: `${url}/rotate-secret` },
				delete: { method: 'DELETE', url },
			} as const
			const late = await trap.answerTooLate(() =>
				trap.app.inject({ ...requests[action], headers: trap[caller] }),
			)
			t.is(late.statusCode, 403)
			t.is(late.json().error.code, 'PROJECT_ACCESS_DENIED')
			t.like(await trap.endpoints(), [
				{ id, url: 'https://example.com/hook', disabledReason: 'OWNER' },
			])
		})
