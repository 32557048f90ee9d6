import test from 'ava'
import { setup } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'

const limit = 4

async function setupFailing(t: Parameters<typeof setup>[0]) {
	const settings = { rateLimitPerMinute: limit, trustProxy: 'loopback' }
	const all = await setup(t, { settings })
	const from = (address: string) => ({ 'x-forwarded-for': address })
	const ask = (address: string, headers: Record<string, string> = {}) =>
		all.app.inject({ url: '/emails/none', headers: { ...from(address), ...headers } })
	const logIn = (address: string, payload: string) =>
		all.app.inject({
			method: 'POST',
			url: '/auth/login',
			headers: { ...from(address), 'content-type': 'application/json' },
			payload,
		})
	return { ...all, ask, logIn }
}

test('wrong keys and broken bodies of a network are limited, valid keys are not', async (t) => {
	const { ask, logIn, withSecretKey } = await setupFailing(t)
	const network = '203.0.113.9'
	t.is((await ask(network)).statusCode, 401)
	t.is((await ask(network, { authorization: `Bearer sk_${'0'.repeat(64)}` })).statusCode, 401)
	t.is((await logIn(network, '{"a":')).statusCode, 400)
	t.is((await logIn(network, '{}')).statusCode, 422)
	for (const refused of [await ask(network), await logIn(network, '{"a":')]) {
		isEnvelope(t, refused, 429, 'RATE_LIMIT_EXCEEDED')
		t.true(Number(refused.headers['retry-after']) > 0)
	}
	t.is((await ask(network, withSecretKey)).statusCode, 404)
	t.is((await ask('203.0.113.10')).statusCode, 401)
})

test('the port that a proxy adds to an address does not make it another network', async (t) => {
	const { ask } = await setupFailing(t)
	for (const network of ['198.51.100.7:PORT', '[2001:db8::7]:PORT']) {
		const statuses = []
		for (let port = 4000; port <= 4000 + limit; port++)
			statuses.push((await ask(network.replace('PORT', String(port)))).statusCode)
		t.deepEqual(statuses, [401, 401, 401, 401, 429], network)
	}
})
