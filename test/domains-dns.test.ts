import { createPublicKey, createSign, createVerify } from 'node:crypto'
import test from 'ava'
import { unseal } from '../db/domains/seal.ts'
import { type DnsRecords, dnsServer } from './helpers/dns-server.ts'
import {
	foundOf,
	nameOf,
	setupDomains,
	smtp,
	statuses,
	valueOf,
	zoneOf,
} from './helpers/domains.ts'

test('with SMTP a domain has a key of its own, whose private part is encrypted', async (t) => {
	const dns = await dnsServer(t)
	const { add, pool, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	t.like(added, { verified: false, status: 'pending' })
	const selector = `tempost-${added.id.slice(-12)}`
	t.deepEqual(
		added.records.map(({ purpose, type, name }) => [purpose, type, name]),
		[
			['DKIM', 'TXT', `${selector}._domainkey.example.org`],
			['SPF', 'TXT', 'example.org'],
			['MX', 'MX', 'example.org'],
			['DMARC', 'TXT', '_dmarc.example.org'],
		],
	)
	t.is(valueOf(added.records, 'SPF'), 'v=spf1 a:relay.example.net ~all')
	t.is(valueOf((await verify(added.id)).records, 'DKIM'), valueOf(added.records, 'DKIM'))
	const { rows } = await pool.query('select dkim_private_key, dkim_selector from domains')
	t.is(rows[0].dkim_selector, selector)
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

test('a domain is verified when DKIM and SPF are in its DNS, and each record has its own status', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	t.regex(
		added.lastError!,
		/There is no DKIM record at tempost-\w{12}\._domainkey\.example\.org\. example\.org has no SPF record\./,
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

test('a verified domain whose lost key was replaced has three days for the record of the new one', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify, sweep, pool } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.true((await verify(added.id)).verified)
	await pool.query(
		`update domains set dkim_selector = null, dkim_private_key = null, dkim_public_key = null`,
	)
	const changed = await verify(added.id)
	t.not(valueOf(changed.records, 'DKIM'), valueOf(added.records, 'DKIM'))
	for (let turn = 0; turn < 4; turn++) t.like(await sweep(), { checked: 1, lost: 0 })
	t.like(await verify(added.id), { verified: true, lastError: changed.lastError })
	Object.assign(dns.zone, zoneOf(changed))
	t.like(await verify(added.id), { verified: true, lastError: null })
	delete dns.zone[nameOf(changed.records, 'DKIM')]
	for (const lost of [0, 0, 1]) t.like(await sweep(), { lost })
})

test('each record shows what DNS has, at most a little of it', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	t.deepEqual(foundOf(added), { DKIM: [], SPF: [], MX: [], DMARC: [] })
	Object.assign(dns.zone, zoneOf(added))
	dns.zone[nameOf(added.records, 'DKIM')] = { TXT: ['v=DKIM1; p=other', `\0${'x'.repeat(5000)}`] }
	dns.zone['example.org'] = { TXT: ['unrelated', 'v=spf1 -all'], MX: ['5 mx.example.org'] }
	dns.zone['_dmarc.example.org'] = 'SERVFAIL'
	t.deepEqual(foundOf(await verify(added.id)), {
		DKIM: ['v=DKIM1; p=other', 'x'.repeat(1000)],
		SPF: ['v=spf1 -all'],
		MX: ['5 mx.example.org'],
		DMARC: null,
	})
})

test('SPF counts if it allows the server, in any form', async (t) => {
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
		'v=spf1 ip6:2001:0DB8:0::7 -all',
		'v=spf1 ip4:192.0.2.0/24 -all',
		'v=spf1 +ip6:2001:db8::/32 -all',
		'v=spf1 a:relay.example.net. -all',
		'v=spf1 a:relay.example.net/24//64 -all',
		'v=spf1 include:relay.example.net. -all',
		'v=spf1 ip4:10.0.0.0/8 ip6:::/0 -all',
		'v=spf1 +all',
	])
		t.is(await spfOf(text), 'verified', text)
	for (const text of [
		'v=spf1 -all',
		'v=spf1 -a:relay.example.net +mx',
		'v=spf1 -ip4:192.0.2.0/24 -all',
		'v=spf1 ip4:192.0.2.8/29 ip6:2001:db9::/32 -all',
		'v=spf1 ip4:2001:db8::/32 ip4:192.0.2.0/33 ip4:192.0.2/24 ip4:192.0.2.0/ -all',
		'v=spf1 a:relay.example.net.. -all',
		'v=spf1 a:relay.example.net.evil.example -all',
		'v=spf10 a:relay.example.net',
		'a:relay.example.net',
		'v=spf1 mx ~all a:relay.example.net',
		'v=spf1 -all +all',
	])
		t.is(await spfOf(text), 'pending', text)
	await spfOf('v=spf1 mx ~ALL ip4:192.0.2.7')
	t.regex((await verify(added.id)).lastError!, /names relay\.example\.net only after ~all/)
	t.is(await spfOf('v=spf1 +all', 'v=spf1 a:relay.example.net -all'), 'pending')
	t.regex((await verify(added.id)).lastError!, /several SPF records/)
})

test('SPF counts if a name in it leads to an address of the server', async (t) => {
	const dns = await dnsServer(t, {
		'relay.example.net': { A: ['192.0.2.7'], AAAA: ['2001:db8::7'] },
		'mail.example.org': { A: ['192.0.2.7'] },
		'near.example.org': { A: ['192.0.2.99'], AAAA: ['2001:db8::99'] },
		'far.example.org': { A: ['198.51.100.1'] },
		'mx.example.com': { AAAA: ['2001:db8::7'] },
		'example.com': { MX: ['10 far.example.org', '20 mx.example.com'] },
		'example.net': { MX: ['10 far.example.org', '20 silent.example.org'] },
		'silent.example.org': 'SERVFAIL',
	})
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	const records = zoneOf(added)
	Object.assign(dns.zone, records)
	const spfOf = async (text: string, own: DnsRecords = {}) => {
		dns.zone['example.org'] = { ...own, TXT: [text] }
		const checked = await verify(added.id)
		return { status: statuses(checked)['SPF'], lastError: checked.lastError }
	}
	const allowed: [string, DnsRecords][] = [
		['v=spf1 a -all', { A: ['192.0.2.1', '192.0.2.7'] }],
		['v=spf1 a/24 -all', { A: ['192.0.2.1'] }],
		['v=spf1 mx -all', { MX: ['10 mail.example.org'] }],
		['v=spf1 a +MX ~all', { A: ['198.51.100.1'], MX: ['10 mail.example.org'] }],
		['v=spf1 mx:example.com -all', {}],
		['v=spf1 a:mail.example.org. -all', {}],
		['v=spf1 a:near.example.org/24 -all', {}],
		['v=spf1 a:near.example.org//64 -all', {}],
		['v=spf1 a:silent.example.org a:mail.example.org -all', {}],
	]
	for (const [text, own] of allowed) t.is((await spfOf(text, own)).status, 'verified', text)
	const foreign: [string, DnsRecords][] = [
		['v=spf1 a -all', { A: ['198.51.100.1'] }],
		['v=spf1 mx -all', { MX: ['10 far.example.org'] }],
		['v=spf1 mx -all', { MX: ['0 .'] }],
		['v=spf1 -a -mx -all', { A: ['192.0.2.7'], MX: ['10 mail.example.org'] }],
		['v=spf1 a:near.example.org a:near.example.org/33 -all', {}],
		['v=spf1 a:mail.example.org//24/24 -all', {}],
		['v=spf1 a:192.0.2.7 a:nowhere.example.org -all', {}],
		['v=spf1 a:%{d}..x mx:-..- -all', {}],
		[`v=spf1 ${'a:far.example.org '.repeat(10)}a:mail.example.org -all`, {}],
	]
	for (const [text, own] of foreign) {
		const { status, lastError } = await spfOf(text, own)
		t.is(status, 'pending', text)
		t.regex(lastError!, /does not let relay\.example\.net send/)
	}
	const { lastError } = await spfOf('v=spf1 mx:example.net -all')
	t.regex(lastError!, /DNS did not answer/)
})

test('SPF counts if it names the server as shown, however SMTP_URL writes it', async (t) => {
	const dns = await dnsServer(t, {})
	const env = { ...smtp, SMTP_URL: 'smtp://Relay.Example.NET:587' }
	const { add, verify } = await setupDomains(t, env, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	t.true((await verify(added.id)).verified)
})

test('a domain keeps the selector and the key that its owner has published', async (t) => {
	const dns = await dnsServer(t)
	const { add, pool, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	await pool.query(`update domains set dkim_selector = 'tempost', token_exempt = true`)
	const [dkim] = (await verify(added.id)).records
	t.is(dkim!.name, 'tempost._domainkey.example.org')
	t.is(dkim!.value, valueOf(added.records, 'DKIM'))
	Object.assign(dns.zone, zoneOf({ ...added, records: (await verify(added.id)).records }))
	t.true((await verify(added.id)).verified)
})

test('a key beside another one at its name does not verify a domain: receivers may read the other', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const added = await add('example.org')
	Object.assign(dns.zone, zoneOf(added))
	const key = valueOf(added.records, 'DKIM')
	dns.zone[nameOf(added.records, 'DKIM')] = { TXT: ['v=DKIM1; k=rsa; p=former', key] }
	const checked = await verify(added.id)
	t.like(statuses(checked), { DKIM: 'pending', SPF: 'verified' })
	t.regex(checked.lastError!, /several DKIM records .* Keep only the one shown here/)
	dns.zone[nameOf(added.records, 'DKIM')] = { TXT: ['unrelated', key] }
	t.true((await verify(added.id)).verified)
})

test('a key published by another party does not verify a domain', async (t) => {
	const dns = await dnsServer(t)
	const { add, verify } = await setupDomains(t, smtp, [dns.address])
	const mine = await add('example.org')
	const other = await add('example.com')
	Object.assign(dns.zone, zoneOf(mine))
	dns.zone[nameOf(mine.records, 'DKIM')] = { TXT: [valueOf(other.records, 'DKIM')] }
	const checked = await verify(mine.id)
	t.false(checked.verified)
	t.regex(checked.lastError!, /is not the one shown here/)
})
