import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { json, setupCommands } from './helpers/commands.ts'

const findingsOf = (output: string) =>
	Object.fromEntries(
		(json(output)['findings'] as { check: string; state: string; advice?: string }[]).map(
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
	const findings = json(out)['findings'] as { message: string; advice?: string }[]
	const domain = findings.find(({ message: said }) => said.startsWith('shop.example'))!
	t.is(domain.message, 'shop.example is not verified: A record is missing')
	t.is(domain.advice, 'Set in DNS: TXT _dmarc.shop.example v=DMARC1')
})

test('doctor notices clocks that differ', async (t) => {
	const checks = { database: 'ok', temporal: 'ok', worker: 'ok', provider: 'ok' }
	const server = createServer((_request, response) => {
		response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
		response.end(JSON.stringify({ status: 'ok', checks, provider: null }))
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => server.close())
	const { run } = await setupCommands(t)
	const { out } = await run([
		'doctor',
		'--url',
		`http://127.0.0.1:${(server.address() as AddressInfo).port}`,
	])
	t.is(findingsOf(out)['Clock']![0], 'problem')
})
