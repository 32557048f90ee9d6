import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { setup } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'

const crowd = 150

/** Occupies all connections of the pool until the returned function is called. */
async function occupy(t: ExecutionContext, pool: Pool) {
	const held = await Promise.all(Array.from({ length: pool.options.max! }, () => pool.connect()))
	const release = () => {
		for (const db of held.splice(0)) db.release()
	}
	t.teardown(release)
	return release
}

async function until(t: ExecutionContext, isTrue: () => Promise<boolean>) {
	for (const endsAt = Date.now() + 20_000; !(await isTrue()); await sleep(20))
		if (Date.now() > endsAt) return t.fail('it does not come')
}

test('while requests wait for the database further ones are refused, and accepted again afterwards', async (t) => {
	const { app, pool, withSecretKey: headers } = await setup(t)
	const ask = () => app.inject({ url: '/contacts', headers })
	t.is((await ask()).statusCode, 200)
	const release = await occupy(t, pool)
	const waiting = Array.from({ length: crowd }, ask)
	const isRefused = async () =>
		Promise.race([ask().then(({ statusCode }) => statusCode === 503), sleep(500, false)])
	await until(t, isRefused)
	const startedAt = performance.now()
	const refused = await Promise.all(Array.from({ length: 20 }, ask))
	for (const answer of refused) {
		isEnvelope(t, answer, 503, 'EXTERNAL_SERVICE_ERROR')
		t.is(answer.headers['retry-after'], '1')
	}
	t.true(performance.now() - startedAt < 2000)
	release()
	for (const answer of await Promise.all(waiting)) t.is(answer.statusCode, 200)
	await until(t, async () => (await ask()).statusCode === 200)
})

test('opens, clicks and health checks are not refused under overload', async (t) => {
	const { app } = await setup(t, {
		services: { capacity: { requests: 1, bodyBytes: 1 } },
	})
	const entered = Promise.withResolvers<void>()
	const gate = Promise.withResolvers<void>()
	app.get('/wait', { config: { auth: 'none' } }, async () => {
		entered.resolve()
		await gate.promise
		return 'done'
	})
	const waiting = app.inject('/wait')
	await entered.promise
	t.is((await app.inject('/config')).statusCode, 503)
	t.is((await app.inject('/health')).statusCode, 200)
	t.is((await app.inject('/o/none/none')).statusCode, 404)
	gate.resolve()
	await waiting
	t.is((await app.inject('/config')).statusCode, 200)
})
