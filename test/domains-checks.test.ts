import test, { type ExecutionContext } from 'ava'
import { EventEmitter, once } from 'node:events'
import type { Capacity } from '../api/requests/overload.ts'
import { platformProjectId } from '../db/emails/platform-mail.ts'
import type { DomainChecker } from '../outside/domains/checker.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { nameOf, setupDomains, smtp, zoneOf } from './helpers/domains.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { addMember, createUser } from './helpers/people.ts'

test('a domain that loses its records is unverified at the third failed check in a row, and the members are notified once', async (t) => {
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
	delete dns.zone[nameOf(added.records, 'DKIM')]
	t.like(await sweep(), { lost: 0 })
	t.like(await sweep(), { lost: 0 })
	// Records that return in time keep the status, and the count starts again.
	Object.assign(dns.zone, zoneOf(added))
	t.like(await sweep(), { checked: 1, verified: 0, lost: 0 })
	const listed = async () => (await call('GET', `/domains/project/${project.id}`)).json()[0]
	t.like(await listed(), { verified: true, lastError: null })
	delete dns.zone[nameOf(added.records, 'DKIM')]
	t.like(await sweep(), { checked: 1, lost: 0 })
	t.like(await sweep(), { checked: 1, lost: 0 })
	t.like(await listed(), { verified: true, status: 'verified' })
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
	t.like(await verify(added.id), { verified: true, lastError: null })
})

test('a domain that loses its records pauses the campaigns that are sent from it, and no others', async (t) => {
	const dns = await dnsServer(t)
	const { add, call, sweep } = await setupDomains(t, smtp, [dns.address])
	const lost = await add('example.org')
	const kept = await add('example.net')
	Object.assign(dns.zone, zoneOf(lost), zoneOf(kept))
	t.like(await sweep(), { verified: 2 })
	await call('POST', '/contacts', { email: 'a@example.com', subscribed: true })
	const started = async (domain: string) => {
		const texts = { name: 'News', subject: 'Hi', body: '<p>Hi</p>', type: 'MARKETING' }
		const campaign = { ...texts, from: `me@${domain}` }
		const created = await call('POST', '/campaigns', { ...campaign, audienceType: 'ALL' })
		t.is(created.statusCode, 201, created.body)
		const { id } = created.json().data
		const sent = await call('POST', `/campaigns/${id}/send`)
		t.is(sent.statusCode, 200, sent.body)
		return async () => (await call('GET', `/campaigns/${id}`)).json()
	}
	const fromLost = await started('example.org')
	const fromKept = await started('example.net')
	delete dns.zone[nameOf(lost.records, 'DKIM')]
	for (let n = 0; n < 2; n++) t.like(await sweep(), { lost: 0 })
	t.is((await fromLost()).pausedAt, null)
	t.like(await sweep(), { lost: 1 })
	t.like(await fromLost(), { status: 'SENDING', pausedReason: 'SENDER' })
	t.like(await fromKept(), { status: 'SENDING', pausedReason: null })
})

test('a failing resolver does not revoke a domain, and is reported', async (t) => {
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

test('a domain that lists our server’s addresses stays verified while they cannot be looked up', async (t) => {
	const dns = await dnsServer(t, { 'relay.example.net': { A: ['192.0.2.7'], AAAA: 'SERVFAIL' } })
	const { add, sweep, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	const list = (address: string) =>
		(dns.zone['example.org'] = { TXT: [`v=spf1 ip4:${address} -all`] })
	// The known addresses are enough if they are listed.
	list('192.0.2.7')
	t.like(await verify(added.id), { verified: true, lastError: null })
	dns.zone['relay.example.net'] = 'SERVFAIL'
	for (let i = 0; i < 4; i++) t.like(await sweep(), { checked: 1, lost: 0 })
	t.like(await verify(added.id), {
		verified: true,
		lastError: 'DNS did not answer for relay.example.net: this will be checked again.',
	})
	dns.zone['relay.example.net'] = { A: ['192.0.2.7'] }
	list('192.0.2.8')
	t.regex((await verify(added.id)).lastError!, /does not let relay\.example\.net send/)
	await sweep()
	await sweep()
	t.like(await sweep(), { lost: 1 })
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

test('repeated requests do not keep a domain verified that has lost its records', async (t) => {
	const dns = await dnsServer(t)
	const { add, pool, sweepDue, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.true((await verify(added.id)).verified)
	delete dns.zone[nameOf(added.records, 'DKIM')]
	let checks = 0
	let lost = 0
	// A request every two minutes, and the sweep every four.
	for (let minute = 2; minute <= 24; minute += 2) {
		await pool.query(
			`update domains set next_check_at = next_check_at - interval '2 minutes',
				last_checked_at = last_checked_at - interval '2 minutes'`,
		)
		await verify(added.id)
		const page = minute % 4 === 0 ? await sweepDue() : { checked: 0, lost: 0 }
		checks += page.checked
		lost += page.lost
		t.is(lost, checks < 3 ? 0 : 1)
	}
	t.is(lost, 1)
	t.false((await verify(added.id)).verified)
})

test('repeated requests do not revoke a domain, and are limited', async (t) => {
	const dns = await dnsServer(t)
	const { add, call, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.like(await verify(added.id), { verified: true, lastError: null })
	delete dns.zone[nameOf(added.records, 'DKIM')]
	for (let i = 0; i < 5; i++) t.true((await verify(added.id)).verified)
	const codes: number[] = []
	for (let i = 0; i < 55; i++)
		codes.push((await call('GET', `/domains/${added.id}/verify`)).statusCode)
	t.is(codes.at(-1), 429)
})

/** An API whose checks wait for the gate. */
async function setupSlowChecks(t: ExecutionContext, capacity: Capacity = {}) {
	const gate = Promise.withResolvers<void>()
	t.teardown(gate.resolve)
	const begun: string[] = []
	const began = new EventEmitter()
	const checker = (): DomainChecker => ({
		async check({ domain }) {
			begun.push(domain)
			began.emit('check')
			if (domain !== 'quick.example') await gate.promise
			return { isVerified: true, records: [], error: null }
		},
		remove: async () => {},
	})
	return { ...(await setupDomains(t, {}, [], checker, capacity)), gate, begun, began }
}

test('a request that waits for the check of a domain takes no place from others', async (t) => {
	const { app, call, gate, began } = await setupSlowChecks(t, { requests: 2 })
	const waiting = []
	for (const domain of ['a.example', 'b.example', 'c.example']) {
		const begins = once(began, 'check')
		waiting.push(call('POST', '/domains', { domain }))
		await begins
		t.is((await app.inject('/config')).statusCode, 200)
	}
	gate.resolve()
	for (const answer of await Promise.all(waiting)) t.is(answer.statusCode, 201)
})

test('a flood of checks is refused, changes nothing, and delays no other project', async (t) => {
	const { call, gate, begun, rival, pool } = await setupSlowChecks(t)
	const flood = Array.from({ length: 45 }, (_, n) =>
		call('POST', '/domains', { domain: `d${n}.example` }),
	)
	const refused = await Promise.race(flood)
	isEnvelope(t, refused, 503, 'EXTERNAL_SERVICE_ERROR')
	t.is(refused.headers['retry-after'], '10')
	t.is(begun.length, 4)
	t.true((await (await rival()).add('quick.example')).verified)
	gate.resolve()
	const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode)
	t.is(statuses.filter((status) => status === 503).length, 1)
	t.is((await pool.query('select from domains')).rowCount, 45)
})
