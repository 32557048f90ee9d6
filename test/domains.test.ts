import { createPublicKey, createSign, createVerify } from 'node:crypto'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import test, { type ExecutionContext } from 'ava'
import { createDomainChecker } from '../activities/domain-checking/checker.ts'
import { type CheckedPage, domainActivities } from '../activities/domains.ts'
import { unseal } from '../activities/seal.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { platformProjectId } from '../db/platform-mail.ts'
import { createProject, setup, testSettings } from './helpers/app.ts'
import { type DnsRecords, dnsServer } from './helpers/dns-server.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { addMember, createUser } from './helpers/people.ts'
import { resendDomainsFake } from './helpers/resend-domains-fake.ts'

interface DomainBody {
	id: string
	domain: string
	verified: boolean
	status: string
	lastError: string | null
	records: { type: string; name: string; value: string; purpose: string; status: string }[]
}

const logger = new DefaultLogger('ERROR', () => {})

async function setupDomains(t: ExecutionContext, env: object = {}, dnsServers: string[] = []) {
	const defaults = testSettings()
	const context = await setup(t, { settings: { env: { ...defaults.env, ...env }, dnsServers } })
	const { app, pool, withSecretKey: headers } = context
	const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
	const activities = domainActivities({
		pool,
		relay: { wake() {} },
		domains: createDomainChecker(pool, { ...defaults.env, ...env }, dnsServers),
		settings: { platformFrom: 'noreply@tempost.example' },
	})
	return {
		...context,
		call,
		add: async (domain: string) => {
			const answer = await call('POST', '/domains', { domain })
			t.is(answer.statusCode, 201, answer.body)
			return answer.json<DomainBody>()
		},
		verify: async (id: string) => (await call('GET', `/domains/${id}/verify`)).json<DomainBody>(),
		/** What the sweep does when every domain is due. */
		async sweep() {
			await pool.query(
				`update domains set next_check_at = now(), last_checked_at = last_checked_at - interval '5 minutes'`,
			)
			return new MockActivityEnvironment({}, { logger }).run(
				activities.checkDomains,
			) as Promise<CheckedPage>
		},
		activities,
	}
}

const smtp = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://relay.example.net:587' }

/** A zone that has what a domain is to have. */
const zoneOf = ({ domain, records }: DomainBody): Record<string, DnsRecords> => ({
	[domain]: {
		TXT: ['google-site-verification=x', valueOf(records, 'SPF')],
		MX: ['5 mx.example.org'],
	},
	[`tempost._domainkey.${domain}`]: { TXT: [valueOf(records, 'DKIM')] },
	[`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
})
const valueOf = (records: DomainBody['records'], purpose: string) =>
	records.find((record) => record.purpose === purpose)!.value
const statuses = ({ records }: DomainBody) =>
	Object.fromEntries(records.map(({ purpose, status }) => [purpose, status]))

test('with the local provider a domain is verified at once, and mail may be sent from it', async (t) => {
	const { add, call } = await setupDomains(t)
	t.like(await add('Mail.Example.ORG.'), {
		domain: 'mail.example.org',
		verified: true,
		status: 'verified',
	})
	const mail = { to: 'a@example.net', from: 'me@mail.example.org', subject: 'Hi', body: 'Hi' }
	t.is((await call('POST', '/v1/send', mail)).statusCode, 200)
})

test('with SMTP a domain has a key of its own, whose private part is sealed', async (t) => {
	const dns = await dnsServer(t)
	const { add, pool, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	t.like(added, { verified: false, status: 'pending' })
	t.deepEqual(
		added.records.map(({ purpose, type, name }) => [purpose, type, name]),
		[
			['DKIM', 'TXT', 'tempost._domainkey.example.org'],
			['SPF', 'TXT', 'example.org'],
			['MX', 'MX', 'example.org'],
			['DMARC', 'TXT', '_dmarc.example.org'],
		],
	)
	t.is(valueOf(added.records, 'SPF'), 'v=spf1 a:relay.example.net ~all')
	t.is(valueOf((await verify(added.id)).records, 'DKIM'), valueOf(added.records, 'DKIM'))
	const { rows } = await pool.query('select dkim_private_key, dkim_selector from domains')
	t.is(rows[0].dkim_selector, 'tempost')
	t.false(rows[0].dkim_private_key.includes('PRIVATE KEY'))
	const privateKey = unseal(rows[0].dkim_private_key, 'a secret of the tests')
	const published = /p=(.+)$/.exec(valueOf(added.records, 'DKIM'))![1]!
	const publicKey = createPublicKey({
		key: Buffer.from(published, 'base64'),
		format: 'der',
		type: 'spki',
	})
	const signature = createSign('RSA-SHA256').update('x').sign(privateKey)
	t.true(createVerify('RSA-SHA256').update('x').verify(publicKey, signature))
})

test('a domain is verified when DKIM and SPF stand in its DNS, and each record says whether it does', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	t.regex(
		added.lastError!,
		/There is no DKIM record at tempost\._domainkey\.example\.org\. example\.org has no SPF record\./,
	)
	Object.assign(dns.zone, zoneOf(added))
	const found = await verify(added.id)
	t.like(found, { verified: true, status: 'verified', lastError: null })
	t.deepEqual(statuses(found), {
		DKIM: 'verified',
		SPF: 'verified',
		MX: 'verified',
		DMARC: 'verified',
	})
	t.is(valueOf(found.records, 'MX'), 'mx.example.org')
	const other = await add('example.com')
	const { [`_dmarc.example.com`]: _, ...without } = zoneOf(other)
	Object.assign(dns.zone, without)
	dns.zone['example.com'] = { TXT: [valueOf(other.records, 'SPF')] }
	const bare = await verify(other.id)
	t.true(bare.verified)
	t.deepEqual(statuses(bare), {
		DKIM: 'verified',
		SPF: 'verified',
		MX: 'pending',
		DMARC: 'pending',
	})
})

test('SPF counts when it lets the server send, in whichever words', async (t) => {
	const dns = await dnsServer(t, {
		'relay.example.net': { A: ['192.0.2.7'], AAAA: ['2001:db8::7'] },
	})
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	const zone = zoneOf(added)
	Object.assign(dns.zone, zone)
	const spfOf = async (...texts: string[]) => {
		dns.zone['example.org'] = { TXT: texts }
		return statuses(await verify(added.id))['SPF']
	}
	for (const text of [
		'v=spf1 a:relay.example.net -all',
		'V=SPF1 +a:RELAY.example.net -all',
		'v=spf1 include:relay.example.net ?all',
		'v=spf1 mx ip4:192.0.2.7 -all',
		'v=spf1 ip6:2001:db8::7 -all',
		'v=spf1 +all',
	])
		t.is(await spfOf(text), 'verified', text)
	for (const text of [
		'v=spf1 -all',
		'v=spf1 -a:relay.example.net +mx',
		'v=spf1 a:relay.example.net.evil.example -all',
		'v=spf10 a:relay.example.net',
		'a:relay.example.net',
	])
		t.is(await spfOf(text), 'pending', text)
	t.is(await spfOf('v=spf1 +all', 'v=spf1 a:relay.example.net -all'), 'pending')
	t.regex((await verify(added.id)).lastError!, /several SPF records/)
})

test('a key that somebody else published does not verify a domain', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const mine = await add('example.org')
	const other = await add('example.com')
	Object.assign(dns.zone, zoneOf(mine))
	dns.zone['tempost._domainkey.example.org'] = { TXT: [valueOf(other.records, 'DKIM')] }
	const checked = await verify(mine.id)
	t.false(checked.verified)
	t.regex(checked.lastError!, /is not the one shown here/)
})

test('a domain that loses its records is so no longer at the third check in a row, and its members are told once', async (t) => {
	const dns = await dnsServer(t)
	const { add, app, call, orm, pool, project, sweep, verify } = await setupDomains(t, smtp, [
		dns.address,
	])
	for (const [i, role] of (['OWNER', 'MEMBER'] as const).entries()) {
		const { user } = await createUser(app, orm, `m${i}@example.net`)
		await addMember(orm, project, user, role)
	}
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.like(await sweep(), { checked: 1, verified: 1, lost: 0, isLast: true })
	delete dns.zone['tempost._domainkey.example.org']
	t.like(await sweep(), { lost: 0 })
	t.like(await sweep(), { lost: 0 })
	// Whoever puts them back in time has lost nothing, and is counted from the start.
	Object.assign(dns.zone, zoneOf(added))
	t.like(await sweep(), { verified: 0, lost: 0 })
	delete dns.zone['tempost._domainkey.example.org']
	await sweep()
	await sweep()
	t.true((await call('GET', `/domains/project/${project.id}`)).json()[0].verified)
	t.like(await sweep(), { lost: 1 })
	t.like(await sweep(), { lost: 0 })
	t.false((await verify(added.id)).verified)
	const mail = { to: 'a@example.net', from: 'me@example.org', subject: 'Hi', body: 'Hi' }
	isEnvelope(t, await call('POST', '/v1/send', mail), 403, 'INTERNAL_SERVER_ERROR')
	const { rows } = await pool.query(
		`select "to", subject, body from emails where project_id = $1 order by 1`,
		[platformProjectId],
	)
	t.deepEqual(
		rows.map((row) => row.to),
		['m0@example.net', 'm1@example.net'],
	)
	t.regex(rows[0].subject, /example\.org can no longer send/)
	t.regex(rows[0].body, /There is no DKIM record/)
	Object.assign(dns.zone, zoneOf(added))
	t.true((await verify(added.id)).verified)
})

test('a resolver that fails takes nobody their domain, and says so', async (t) => {
	const dns = await dnsServer(t)
	const { add, sweep, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.true((await verify(added.id)).verified)
	for (const name of Object.keys(dns.zone)) dns.zone[name] = 'SERVFAIL'
	for (let i = 0; i < 4; i++) t.like(await sweep(), { checked: 1, lost: 0 })
	const checked = await verify(added.id)
	t.true(checked.verified)
	t.regex(checked.lastError!, /DNS did not answer/)
})

test('checks become rarer, and the domain of the first start is left alone', async (t) => {
	const dns = await dnsServer(t)
	const { add, pool, sweep } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	const minutesOf = async (age: string) => {
		await pool.query('update domains set created_at = now() - $1::interval', [age])
		await sweep()
		const { rows } = await pool.query(
			`select round(extract(epoch from next_check_at - last_checked_at) / 60)::int as minutes from domains`,
		)
		return rows[0].minutes
	}
	t.deepEqual(
		[await minutesOf('1 hour'), await minutesOf('2 days'), await minutesOf('20 days')],
		[4, 60, 1440],
	)
	Object.assign(dns.zone, zoneOf(added))
	t.is(await minutesOf('20 days'), 360)
	await pool.query('update domains set sweep_exempt = true')
	dns.zone['example.org'] = {}
	t.like(await sweep(), { checked: 0 })
})

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

test('asking again and again takes nobody their domain, and is limited', async (t) => {
	const dns = await dnsServer(t)
	const { add, call, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.like(await verify(added.id), { verified: true, lastError: null })
	delete dns.zone['tempost._domainkey.example.org']
	for (let i = 0; i < 5; i++) t.true((await verify(added.id)).verified)
	const codes: number[] = []
	for (let i = 0; i < 25; i++)
		codes.push((await call('GET', `/domains/${added.id}/verify`)).statusCode)
	t.is(codes.at(-1), 429)
})

test('what is no domain name is a 422', async (t) => {
	const { call } = await setupDomains(t)
	for (const domain of [
		'',
		'example',
		'.com',
		'a..com',
		'-a.com',
		'a-.com',
		'1.2.3.4',
		'http://example.com',
		'a@example.com',
		'example.com/x',
		'exa mple.com',
		`${'a'.repeat(64)}.com`,
		`${'a.'.repeat(127)}com`,
		'a_b.com',
	]) {
		const error = isEnvelope(t, await call('POST', '/domains', { domain }), 422, 'VALIDATION_ERROR')
		t.is(error.errors[0].field, 'domain', domain)
	}
	t.is(
		(await call('POST', '/domains', { domain: 'münchen.example' })).json().domain,
		'xn--mnchen-3ya.example',
	)
})

test('a domain that is taken is a 409, which does not say whose it is', async (t) => {
	const { add, app, call, orm } = await setupDomains(t)
	const mine = await add('example.org')
	t.like(
		isEnvelope(t, await call('POST', '/domains', { domain: 'EXAMPLE.org' }), 409, 'CONFLICT')
			.details,
		{
			domain: 'example.org',
			id: mine.id,
		},
	)
	const other = await createProject(orm)
	const answer = await app.inject({
		method: 'POST',
		url: '/domains',
		headers: other.withSecretKey,
		payload: { domain: 'example.org' },
	})
	t.deepEqual(isEnvelope(t, answer, 409, 'CONFLICT').details, { domain: 'example.org' })
})

test("the list is this project's alone, newest first; other projects' domains are not there", async (t) => {
	const { add, app, call, orm, project } = await setupDomains(t)
	await add('a.example')
	const newest = await add('b.example')
	const list = (await call('GET', `/domains/project/${project.id}`)).json() as DomainBody[]
	t.deepEqual(
		list.map(({ domain }) => domain),
		['b.example', 'a.example'],
	)
	t.is((list[0] as unknown as { projectId: string }).projectId, project.id)
	const other = await createProject(orm)
	const url = `/domains/project/${other.project.id}`
	isEnvelope(t, await call('GET', url), 404, 'RESOURCE_NOT_FOUND')
	isEnvelope(t, await call('GET', '/domains/project/x'), 404, 'RESOURCE_NOT_FOUND')
	for (const [method, path] of [
		['GET', `/domains/${newest.id}/verify`],
		['DELETE', `/domains/${newest.id}`],
	] as const)
		isEnvelope(
			t,
			await app.inject({ method, url: path, headers: other.withSecretKey }),
			404,
			'RESOURCE_NOT_FOUND',
		)
})

test('a domain that mail is sent from is not removed', async (t) => {
	const { add, call } = await setupDomains(t)
	const { id } = await add('example.org')
	const template = { name: 'T', subject: 'S', body: 'B', from: 'Me@Example.ORG' }
	const made = (await call('POST', '/templates', template)).json()
	const { details } = isEnvelope(t, await call('DELETE', `/domains/${id}`), 409, 'CONFLICT')
	t.deepEqual(details, { templates: [{ id: made.id, name: 'T' }], campaigns: [] })
	await call('DELETE', `/templates/${made.id}`)
	const campaign = {
		name: 'C',
		subject: 'S',
		body: 'B',
		from: 'me@example.org',
		audienceType: 'ALL',
	}
	const draft = (await call('POST', '/campaigns', campaign)).json().data
	isEnvelope(t, await call('DELETE', `/domains/${id}`), 409, 'CONFLICT')
	await call('DELETE', `/campaigns/${draft.id}`)
	t.is((await call('DELETE', `/domains/${id}`)).statusCode, 204)
})
