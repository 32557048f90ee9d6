import test from 'ava'
import { setup } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { longestStall } from './helpers/stall.ts'

const json = { 'content-type': 'application/json' }
const many = (count: number, item: (index: number) => string) =>
	Array.from({ length: count }, (_, index) => item(index)).join(',')

/** A megabyte each of content that is expensive to parse, to validate or to report. */
const hostile: Record<string, string> = {
	'a number that no double holds, and zeros': `{"a":[1e400,${'0,'.repeat(500_000)}0]}`,
	'numbers with long exponents': `{"data":{"a":[${many(49_000, () => '1e300')}]}}`,
	'numbers too large': `{"data":{"a":[${many(49_000, () => '1e999')}]}}`,
	'numbers that would be rounded': `{"data":{"a":[${many(45_000, () => '12345678901234567890')}]}}`,
	'one number of a million digits': `{"data":{"a":${'9'.repeat(1e6)}}}`,
	'one text': `{"data":{"a":"${String.raw`Hé\n`.repeat(200_000)}"}}`,
	'one text of backslashes': `{"data":{"a":"${'\\\\'.repeat(500_000)}"}}`,
	spaces: `{"data":${' '.repeat(1e6)}{}}`,
	'a list of lists': `{"data":{"a":[${many(49_000, () => '[]')}]}}`,
	'a great many names': `{"data":{${many(90_000, (i) => `"k${i}":0`)}}}`,
	'objects of different forms': `{"data":{"a":[${many(9000, (i) => `{"k${i}":{"l${i}":1}}`)}]}}`,
	'escaped emoji': `{"data":{"a":"${String.raw`\ud83d\ude00`.repeat(80_000)}"}}`,
	'halves of emoji': `{"data":{"a":"${String.raw`\ud83d`.repeat(160_000)}"}}`,
	'recipients that are none': `{"to":[${many(49_000, () => '0')}]}`,
	'recipients that are nearly some': `{"to":[${many(1600, () => '{"name":1}')}]}`,
	'deep and broken': '{"a":['.repeat(150_000),
	quotes: '"'.repeat(1_000_000),
	'names of a list': `{"email":"a@example.org","event":{${many(19_000, (i) => `"k${i}":[]`)}}}`,
}

test.serial('a megabyte of any JSON does not block the event loop', async (t) => {
	t.timeout(180_000)
	const { app, withSecretKey, withPublicKey } = await setup(t)
	const routes = [
		['/v1/send', withSecretKey],
		['/v1/track', withPublicKey],
		['/contacts', withSecretKey],
		['/segments', withSecretKey],
		['/campaigns', withSecretKey],
	] as const
	// The first request of a route compiles what the others use.
	for (const [url, headers] of routes)
		await app.inject({ method: 'POST', url, headers, payload: { data: [], to: [{}] } })
	const stalls: string[] = []
	for (const [name, payload] of Object.entries(hostile)) {
		for (const [url, key] of routes) {
			const post = () => app.inject({ method: 'POST', url, headers: { ...key, ...json }, payload })
			const stall = await longestStall(async () => t.true((await post()).statusCode < 500))
			if (stall > 25) t.log(`${name}, ${url}: ${Math.round(stall)} ms`)
			if (stall > 50) stalls.push(`${name}, ${url}: ${stall} ms`)
		}
	}
	t.deepEqual(stalls, [])
})

test('a body without a key or a session is small', async (t) => {
	const { app } = await setup(t)
	const post = (length: number) =>
		app.inject({ method: 'POST', url: '/auth/login', headers: json, payload: '{}'.padEnd(length) })
	t.is((await post(60_000)).statusCode, 422)
	isEnvelope(t, await post(70_000), 413, 'BAD_REQUEST')
})

test('a body of more values or members than any request needs is refused before it is read', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const post = async (payload: string) => {
		const headers = { ...withSecretKey, ...json }
		const answer = await app.inject({ method: 'POST', url: '/v1/send', headers, payload })
		return isEnvelope(t, answer, 400, 'VALIDATION_ERROR').details
	}
	t.deepEqual(await post(`[${many(50_001, () => '0')}]`), { maxValues: 50_000 })
	t.deepEqual(await post(`{${many(20_001, (i) => `"k${i}":0`)}}`), { maxMembers: 20_000 })
})

test('emoji written as escapes are read as any other text', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const payload = String.raw`{"email":"a@example.org","data":{"mood":"\uD83D\ude00\\ud83d"}}`
	const headers = { ...withSecretKey, ...json }
	const { statusCode, body } = await app.inject({
		method: 'POST',
		url: '/contacts',
		headers,
		payload,
	})
	t.is(statusCode, 201, body)
	t.is(JSON.parse(body).data.mood, String.raw`😀\ud83d`)
})
