import test from 'ava'
import { email, setupAccounts } from './helpers/accounts.ts'
import { startApp } from './helpers/app.ts'
import { password } from './helpers/people.ts'

test('ten tries for an address, over all processes; then even the right password waits', async (t) => {
	const { orm, pool, signup } = await setupAccounts(t)
	await signup()
	const apps = await Promise.all([startApp(t, orm), startApp(t, orm)])
	let n = 0
	const login = (password: string) =>
		apps[n++ % 2]!.app.inject({
			method: 'POST',
			url: '/auth/login',
			payload: { email, password },
			headers: { 'x-forwarded-for': `198.51.100.${n}` },
		})
	const beganAt = performance.now()
	const wrong = await Promise.all(Array.from({ length: 14 }, () => login('incorrect horse')))
	const statuses = wrong.map(({ statusCode }) => statusCode)
	t.is(statuses.filter((status) => status === 401).length, 10)
	t.is(statuses.filter((status) => status === 429).length, 4)
	const refused = await login(password)
	t.is(refused.statusCode, 429)
	const { error } = refused.json<{ error: { code: string; details: { retryAfter: number } } }>()
	t.is(error.code, 'RATE_LIMIT_EXCEEDED')
	const { retryAfter } = error.details
	const goneSeconds = Math.ceil((performance.now() - beganAt) / 1000)
	t.true(retryAfter >= 900 - goneSeconds && retryAfter <= 900)
	t.is(refused.headers['retry-after'], `${retryAfter}`)
	// Simulates a quarter of an hour.
	await pool.query(
		`update throttles set tries = array(select t - interval '15 minutes' from unnest(tries) t)`,
	)
	t.is((await login(password)).statusCode, 200)
})

test('the quarter of an hour slides: old tries fall out one by one', async (t) => {
	const { pool, login } = await setupAccounts(t)
	const status = async () => (await login()).statusCode
	for (let i = 0; i < 10; i++) t.is(await status(), 401)
	t.is(await status(), 429)
	await pool.query(`update throttles set tries = array(
		select case when n <= 2 then t - interval '15 minutes' else t end
		from unnest(tries) with ordinality as u(t, n))`)
	t.deepEqual([await status(), await status(), await status()], [401, 401, 429])
})

test('logging in clears the counted tries', async (t) => {
	const { signup, login } = await setupAccounts(t)
	await signup()
	for (let i = 0; i < 55; i++) t.is((await login()).statusCode, 200)
	for (let i = 0; i < 10; i++)
		t.is((await login({ email, password: 'incorrect horse' })).statusCode, 401)
})

test('an account allows at most sixty log-ins in a quarter of an hour', async (t) => {
	const { signup, login } = await setupAccounts(t)
	await signup()
	t.is((await login({ email, password: 'incorrect horse' })).statusCode, 401)
	const from = async (n: number) =>
		(await login({ email, password }, { 'x-forwarded-for': `198.51.100.${n}` })).statusCode
	for (let n = 0; n < 60; n++) t.is(await from(n), 200)
	t.is(await from(61), 429)
})

test('one network may request fifty password mails, for any addresses', async (t) => {
	const { post } = await setupAccounts(t)
	const from = async (ip: string, n: number) =>
		(
			await post(
				'/auth/request-password-reset',
				{ email: `${n}@example.org` },
				{ 'x-forwarded-for': ip },
			)
		).statusCode
	const statuses = await Promise.all(Array.from({ length: 52 }, (_, n) => from('192.0.2.1', n)))
	t.is(statuses.filter((status) => status === 429).length, 2)
	t.is(await from('192.0.2.2', 99), 200)
})

test('one network may try fifty times, with any addresses', async (t) => {
	const { login } = await setupAccounts(t)
	const from = async (ip: string, n: number) =>
		(await login({ email: `${n}@example.org`, password }, { 'x-forwarded-for': ip })).statusCode
	const statuses = await Promise.all(
		Array.from({ length: 52 }, (_, n) => from(`2001:db8:1:2::${n}`, n)),
	)
	t.is(statuses.filter((status) => status === 429).length, 2)
	t.is(await from('2001:db8:1:2:ffff:ffff:ffff:ffff', 99), 429)
	t.is(await from('2001:db8:1:3::1', 99), 401)
	t.is(await from('203.0.113.9', 99), 401)
})
