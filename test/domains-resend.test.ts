import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { taskQueues } from '../workflows/task-queues.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { logger, setupDomains } from './helpers/domains.ts'
import { resendDomainsFake } from './helpers/resend-domains-fake.ts'

test('with Resend a domain is set up there once, shows its records, and is verified when Resend says so', async (t) => {
	const resend = await resendDomainsFake(t)
	const dns = await dnsServer(t)
	const env = { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
	const { add, sweep, verify } = await setupDomains(t, env, [dns.address])
	const added = await add('example.org')
	t.deepEqual(
		added.records.map(({ purpose, type, name }) => [purpose, type, name]),
		[
			['MX', 'MX', 'send'],
			['SPF', 'TXT', 'send'],
			['DKIM', 'TXT', 'resend._domainkey'],
			['DMARC', 'TXT', '_dmarc.example.org'],
		],
	)
	t.like(added, { verified: false })
	t.regex(added.lastError!, /MX \(MX send\), SPF \(TXT send\), DKIM/)
	t.is(resend.find('example.org')!.status, 'pending')
	resend.settle('example.org', 'verified')
	t.like(await sweep(), { verified: 1 })
	t.like(await verify(added.id), { verified: true, lastError: null })
	resend.settle('example.org', 'failed')
	await sweep()
	await sweep()
	t.like(await sweep(), { lost: 1 })
	t.is(resend.domains.size, 1)
})

test('a domain whose set-up at Resend was torn off is made there anew, not twice', async (t) => {
	const resend = await resendDomainsFake(t)
	const dns = await dnsServer(t)
	const env = { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
	const { add, pool, verify } = await setupDomains(t, env, [dns.address])
	resend.fail({ status: 429, name: 'rate_limit_exceeded' })
	const added = await add('example.org')
	t.like(added, { verified: false })
	t.regex(added.lastError!, /Resend could not be asked/)
	resend.fail(undefined)
	const made = await verify(added.id)
	t.is(made.records.length, 4)
	// Our process died before it could note the id; or somebody removed the domain there by hand.
	await pool.query('update domains set provider_domain_id = null')
	await verify(added.id)
	t.is(resend.domains.size, 1)
	resend.domains.clear()
	await verify(added.id)
	t.is(resend.domains.size, 1)
})

test('what is verified at Resend by somebody else is not given to whoever asks for it here', async (t) => {
	const resend = await resendDomainsFake(t)
	const dns = await dnsServer(t)
	const env = { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
	const { add, call, activities, pool, verify } = await setupDomains(t, env, [dns.address])
	const first = await add('example.org')
	resend.settle('example.org', 'verified')
	t.true((await verify(first.id)).verified)
	const { id } = resend.find('example.org')!
	t.is((await call('DELETE', `/domains/${first.id}`)).statusCode, 204)
	// Before the provider has been told, somebody else adds it.
	const second = await add('example.org')
	t.like(second, { verified: false })
	t.regex(second.lastError!, /set up at Resend already/)
	const { rows } = await pool.query('select workflow_type, task_queue, payload from outbox')
	t.deepEqual(rows, [
		{
			workflow_type: 'removeDomain',
			task_queue: taskQueues.core,
			payload: { providerDomainId: id },
		},
	])
	const remove = () =>
		new MockActivityEnvironment({}, { logger }).run(activities.removeProviderDomain, id)
	await remove()
	await remove() // it is gone: that is what was wanted
	t.is(resend.domains.size, 0)
	t.false((await verify(second.id)).verified)
	t.not(resend.find('example.org')!.id, id)
})
