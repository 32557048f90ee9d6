import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { Webhook } from 'standardwebhooks'
import { unseal } from '../db/domains/seal.ts'
import { startApp, testSettings } from './helpers/app.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { type DomainBody, setupDomains, smtp, valueOf } from './helpers/domains.ts'
import { type EndpointJson, setupWebhooks, takeTurn } from './helpers/webhooks.ts'

const sessionSecret = 'another secret of the tests'
const reason = /can’t be opened.+SESSION_SECRET.+[Rr]otate/

/** An endpoint whose secret was stored under the SESSION_SECRET before. */
async function setupChanged(t: ExecutionContext) {
	const context = await setupWebhooks(t)
	const { endpoint, orm, pool, project, withSecretKey: headers } = context
	const { id } = await endpoint(['event.*'])
	const settings = { sessionSecret, allowPrivateWebhooks: true }
	const { app } = await startApp(t, orm, { settings })
	async function post<T>(path: string, payload?: object) {
		const url = `/webhook-endpoints/${id}${path}`
		const response = await app.inject({ method: 'POST', url, headers, ...(payload && { payload }) })
		t.is(response.statusCode, 200, response.body)
		return response.json() as T
	}
	const key = { projectId: project.id, endpointId: id }
	return { ...context, id, post, turn: () => takeTurn(pool, key, sessionSecret) }
}

test('a delivery whose secret can’t be opened is a failed try that says why, and is made again', async (t) => {
	const { ask, deliveries, id, receiver, track, turn } = await setupChanged(t)
	await track('signup')
	const { waitMs } = await turn()
	t.true(waitMs! > 0)
	t.is(receiver.heard.length, 0)
	const [delivery] = (await deliveries(id)).data
	t.like(delivery, { status: 'PENDING', tries: 1, lastAttempt: { status: null } })
	t.regex(delivery!.lastAttempt!.error!, reason)
	const { health } = await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)
	t.like(health, { state: 'failing', failuresInRow: 1, waiting: 1 })
})

test('a test of an endpoint whose secret can’t be opened says why', async (t) => {
	const { post, receiver } = await setupChanged(t)
	const answer = await post<{ error: string }>('/test', {})
	t.like(answer, { success: false, status: null })
	t.regex(answer.error, reason)
	t.is(receiver.heard.length, 0)
})

test('a new secret signs at once, although the previous one can’t be opened', async (t) => {
	const { deliveries, id, passTime, post, receiver, track, turn } = await setupChanged(t)
	await track('signup')
	await turn()
	const { secret } = await post<{ secret: string }>('/rotate-secret')
	t.like(await post('/test', {}), { success: true })
	await passTime()
	await turn()
	t.like((await deliveries(id)).data[0], { status: 'DELIVERED' })
	t.is(receiver.heard.length, 2)
	for (const { body, headers } of receiver.heard) {
		t.notThrows(() => new Webhook(secret).verify(body, headers as Record<string, string>))
		t.is((headers['webhook-signature'] as string).split(' ').length, 1)
	}
})

test('the documented statement gives a domain a new key for one that can’t be opened', async (t) => {
	const dns = await dnsServer(t)
	const { add, orm, pool, withSecretKey: headers } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	const page = readFileSync('docs/configuration.md', 'utf8')
	await pool.query(/```sql\n(.+?)```/s.exec(page)![1]!)
	const provider = { ...smtp, EMAIL_PROVIDER: 'smtp' } as const
	const env = { ...testSettings().env, ...provider, SESSION_SECRET: sessionSecret }
	const { app } = await startApp(t, orm, { settings: { env, dnsServers: [dns.address] } })
	const checked = await app.inject({ url: `/domains/${added.id}/verify`, headers })
	t.not(valueOf(checked.json<DomainBody>().records, 'DKIM'), valueOf(added.records, 'DKIM'))
	const { rows } = await pool.query<{ key: Buffer }>('select dkim_private_key as key from domains')
	t.regex(unseal(rows[0]!.key, sessionSecret).toString(), /PRIVATE KEY/)
})
