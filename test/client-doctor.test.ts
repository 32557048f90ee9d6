import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { json, setupCommands } from './helpers/commands.ts'

interface Finding {
	check: string
	state: string
	message: string
	advice?: string
}

const findingsOf = (output: string) =>
	Object.fromEntries(
		(json(output)['findings'] as Finding[]).map(
			({ check, state, advice = '' }) => [check, [state, advice]] as const,
		),
	)

test('doctor names what is wrong, and says how to mend it', async (t) => {
	const checkTemporal = async () => ({ temporal: true, worker: false })
	const { run } = await setupCommands(t, { services: { checkTemporal } })
	const { code, out } = await run(['doctor', '--key', 'sk_wrong', '--json'])
	const findings = findingsOf(out)
	t.is(code, 1)
	for (const check of ['Database', 'Temporal', 'Clock', 'Public key'])
		t.is(findings[check]![0], 'ok', check)
	t.is(findings['Worker']![0], 'problem')
	t.regex(findings['Worker']![1], /npm run worker/)
	t.is(findings['Secret key']![0], 'problem')
	t.truthy(findings['Secret key']![1])
	const absent = await run(['doctor', '--url', 'http://127.0.0.1:1'])
	t.is(absent.code, 1)
	t.is(findingsOf(absent.out)['Service']![0], 'problem')
	t.false(/fetch failed/.test(absent.out))
})

test('doctor shows the records that DNS lacks', async (t) => {
	const record = { type: 'TXT', name: '_dmarc.shop.example', value: 'v=DMARC1' } as const
	const check = async () => ({
		isVerified: false,
		records: [{ ...record, purpose: 'DMARC' as const, status: 'pending' as const }],
		error: 'A record is missing',
	})
	const { run, tempost } = await setupCommands(t, {
		services: { checker: { check, remove: async () => {} } },
	})
	await tempost.domains.create({ domain: 'shop.example' })
	const { out } = await run(['doctor'])
	const findings = json(out)['findings'] as Finding[]
	const domain = findings.find(({ message: said }) => said.startsWith('shop.example'))!
	t.is(domain.message, 'shop.example is not verified: A record is missing')
	t.is(domain.advice, 'Set in DNS: TXT _dmarc.shop.example v=DMARC1')
})

/** The URL of another server. */
async function serve(t: ExecutionContext, listener: RequestListener) {
	const server = createServer(listener)
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => {
		server.close()
		server.closeAllConnections()
	})
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('Ctrl-C ends doctor at once, whichever answer it waits for', async (t) => {
	const { start, env } = await setupCommands(t)
	const health = JSON.stringify({
		status: 'ok',
		checks: { database: 'ok', temporal: 'ok', worker: 'ok', provider: 'ok' },
		provider: null,
	})
	const reached = (path: string, asked: (string | undefined)[]) => async () => asked.includes(path)
	const answers: Record<string, string> = {}
	for (const [path, answer] of [
		['/health', health],
		['/emails?limit=1', '{"data":[]}'],
		['/v1/track', '{}'],
		['/domains/project/%40me', '[]'],
	] as const) {
		const asked: (string | undefined)[] = []
		const url = await serve(t, ({ url: target }, response) => {
			asked.push(target)
			const known = answers[target!]
			if (known !== undefined) response.end(known)
		})
		Object.assign(env, { TEMPOST_URL: url })
		const { child, printed, ended } = start('doctor')
		t.true(await until(reached(path, asked), 60_000), path)
		child.kill('SIGINT')
		t.is(await ended, 130, `${path}: ${printed.out}`)
		t.is(printed.out, '')
		answers[path] = answer
	}
})

test('doctor notices clocks that differ', async (t) => {
	const checks = { database: 'ok', temporal: 'ok', worker: 'ok', provider: 'ok' }
	const url = await serve(t, (_request, response) => {
		response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
		response.end(JSON.stringify({ status: 'ok', checks, provider: null }))
	})
	const { run } = await setupCommands(t)
	const { out } = await run(['doctor', '--url', url])
	t.is(findingsOf(out)['Clock']![0], 'problem')
})

test('doctor says so if another service answers at the address', async (t) => {
	const { run } = await setupCommands(t)
	for (const answer of ['{"status":"UP"}', '{"checks":[]}', 'null', '<h1>Welcome</h1>', '']) {
		const url = await serve(t, (_request, response) => response.end(answer))
		const { code, out, err } = await run(['doctor', '--url', url])
		t.is(code, 1, err)
		t.like(json(out)['findings'], [
			{ check: 'Service', state: 'problem', message: `${url} answers, but is not Tempost` },
		])
	}
})

test('doctor tells a proxy without a service from another service', async (t) => {
	const { run } = await setupCommands(t)
	const url = await serve(t, (_request, response) => {
		response.statusCode = 502
		response.end('<h1>Bad gateway</h1>')
	})
	const { out } = await run(['doctor', '--url', url])
	t.like(json(out)['findings'], [{ check: 'Service', message: `${url} answers with 502` }])
})

test('doctor says so if the answer about domains is not a list', async (t) => {
	const { run } = await setupCommands(t)
	const checks = { database: 'ok', temporal: 'ok', worker: 'ok', provider: 'ok' }
	const url = await serve(t, (_request, response) =>
		response.end(JSON.stringify({ status: 'ok', checks, provider: null, data: [] })),
	)
	const { code, out } = await run(['doctor', '--url', url])
	t.is(code, 1)
	const findings = json(out)['findings'] as Finding[]
	t.like(findings.at(-1), { check: 'Domains', message: 'The answer is not a list' })
})

test('an address may end with slashes', async (t) => {
	const checkTemporal = async () => ({ temporal: true, worker: true })
	const { run, env, url } = await setupCommands(t, { services: { checkTemporal } })
	Object.assign(env, { TEMPOST_URL: `${url}//` })
	const { out, err } = await run(['doctor'])
	t.is(findingsOf(out)['Database']![0], 'ok', err)
	t.is(findingsOf(out)['Secret key']![0], 'ok')
})

test('the keys of an installation in the same folder are found, if its address is given with a slash', async (t) => {
	const { run, env, url, home, secretKey, publicKey } = await setupCommands(t)
	mkdirSync(join(home, '.data'))
	const installation = JSON.stringify({ apiUrl: url, secretKey, publicKey })
	writeFileSync(join(home, '.data/local.json'), installation)
	Object.assign(env, { TEMPOST_SECRET_KEY: '', TEMPOST_PUBLIC_KEY: '' })
	const { code, err } = await run(['logs', '--url', `${url}/`])
	t.is(code, 0, err)
})
