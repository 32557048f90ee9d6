import type { ExecutionContext } from 'ava'
import test from 'ava'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Capacity } from '../api/requests/overload.ts'
import { meantDomain } from '../api/verify/address-lists.ts'
import { createDomainLookUp } from '../api/verify/domain-look-up.ts'
import { createProject, setup } from './helpers/app.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { isEnvelope } from './helpers/envelope.ts'

const whole = { NS: ['ns.test'], MX: ['10 mx.test'], A: ['192.0.2.1'] }

async function setupVerify(
	t: ExecutionContext,
	zone: Parameters<typeof dnsServer>[1],
	capacity: Capacity = {},
) {
	const dns = await dnsServer(t, zone)
	return { ...(await setupWith(t, [dns.address], capacity)), dns }
}

async function setupWith(t: ExecutionContext, dnsServers: string[], capacity: Capacity = {}) {
	const all = await setup(t, { settings: { dnsServers }, services: { capacity } })
	const post = (payload: object, headers = all.withSecretKey) =>
		all.app.inject({ method: 'POST', url: '/v1/verify', headers, payload })
	return {
		...all,
		post,
		verify: async (email: string) => {
			const response = await post({ email })
			t.is(response.statusCode, 200, response.body)
			const { success, data } = response.json()
			t.true(success)
			return data
		},
	}
}

// Serial and first, because the others' work would count as waiting.
test.serial('a silent resolver is waited for 3 seconds at most', async (t) => {
	const { address } = await dnsServer(t, { 'silent.io': 'silence' })
	const lookUp = createDomainLookUp([address])
	const late = async () => {
		await sleep(3300)
		// The end of a look-up takes a turn of the event loop to arrive.
		for (let turns = 0; turns < 3; turns++) await turn()
		return 'too late'
	}
	const facts = await Promise.race([lookUp('silent.io'), late()])
	t.deepEqual(facts, { exists: null, hasMx: null, hasWebsite: null, fault: 'no answer in time' })
})

test('an address with a complete domain is valid', async (t) => {
	const { verify } = await setupVerify(t, { 'acme.io': whole })
	t.deepEqual(await verify(' Ann@Acme.IO '), {
		email: 'ann@acme.io',
		valid: true,
		isDisposable: false,
		isAlias: false,
		isTypo: false,
		isPlusAddressed: false,
		isPersonalEmail: false,
		domainExists: true,
		hasWebsite: true,
		hasMxRecords: true,
		reasons: ['The address looks fine'],
	})
})

test('a domain without name servers or without MX records makes an address invalid', async (t) => {
	const { verify } = await setupVerify(t, {
		'mailless.io': { NS: ['ns.test'], AAAA: ['2001:db8::1'] },
		'nullmx.io': { ...whole, MX: ['0 .'] },
	})
	const gone = await verify('ann@gone.io')
	t.like(gone, { valid: false, domainExists: false, hasMxRecords: false, hasWebsite: false })
	t.is(gone.reasons.length, 1)
	t.regex(gone.reasons[0], /does not exist/)
	const mailless = await verify('ann@mailless.io')
	t.like(mailless, { valid: false, domainExists: true, hasMxRecords: false, hasWebsite: true })
	t.regex(mailless.reasons.join(), /no MX records/)
	t.like(await verify('ann@nullmx.io'), { valid: false, hasMxRecords: false })
})

test('a domain may have its name servers above it, and need no website', async (t) => {
	const { verify, dns } = await setupVerify(t, {
		'mail.dept.uni.edu': { MX: ['10 mx.test'] },
		'dept.uni.edu': {},
		'uni.edu': { NS: ['ns.test'] },
		'lone.edu': { MX: ['10 mx.test'] },
	})
	const data = await verify('ann@mail.dept.uni.edu')
	t.like(data, { valid: true, domainExists: true, hasMxRecords: true, hasWebsite: false })
	t.regex(data.reasons.join(), /no A or AAAA/)
	t.like(await verify('ann@lone.edu'), { valid: false, domainExists: false, hasMxRecords: true })
	t.false(dns.queries.includes('NS edu'))
})

test('a resolver that fails is no verdict on the address', async (t) => {
	const { verify } = await setupVerify(t, {
		'broken.io': 'SERVFAIL',
		'half.io': { ...whole, MX: 'SERVFAIL' },
	})
	const broken = await verify('ann@broken.io')
	t.like(broken, { valid: true, domainExists: false, hasMxRecords: false, hasWebsite: false })
	t.regex(broken.reasons.join(), /could not be looked up completely: its name servers failed/)
	t.like(await verify('ann@half.io'), { valid: true, domainExists: true, hasMxRecords: false })
})

test('without any network there is an answer', async (t) => {
	const { verify } = await setupWith(t, ['127.0.0.1:1'])
	const data = await verify('ann+news@acme.io')
	t.like(data, { valid: true, domainExists: false, isPlusAddressed: true })
	t.regex(data.reasons.join(), /could not be looked up completely/)
})

test('a domain is looked up once for many, and again after a failure', async (t) => {
	const { verify, dns } = await setupVerify(t, { 'acme.io': whole })
	await Promise.all(['a', 'b', 'c'].map((name) => verify(`${name}@acme.io`)))
	await verify('d@acme.io')
	t.deepEqual(dns.queries.toSorted(), ['A acme.io', 'AAAA acme.io', 'MX acme.io', 'NS acme.io'])
})

test('findings about the address itself are reported, and do not make it invalid', async (t) => {
	const { verify } = await setupVerify(
		t,
		Object.fromEntries(
			['gmial.com', 'mailinator.com', 'x.mailinator.com', 'gmail.com', 'ann.anonaddy.com'].map(
				(domain) => [domain, whole],
			),
		),
	)
	t.like(await verify('ann@gmail.com'), { valid: true, isPersonalEmail: true, isTypo: false })
	t.like(await verify('ann+tag@gmail.com'), { valid: true, isPlusAddressed: true })
	t.like(await verify('ann@mailinator.com'), { valid: true, isDisposable: true })
	t.like(await verify('ann@x.mailinator.com'), { valid: true, isDisposable: true })
	t.like(await verify('shop@ann.anonaddy.com'), { isAlias: true, isDisposable: false })
	const typo = await verify('ann@gmial.com')
	t.like(typo, { valid: true, isTypo: true, suggestedEmail: 'ann@gmail.com' })
	t.deepEqual(typo.reasons, ['The domain looks mistyped: ann@gmail.com may be meant'])
})

test('slips of the hand are seen, and names of their own are left alone', (t) => {
	const slips: Record<string, string> = {
		'gmai.com': 'gmail.com',
		'gmail.co': 'gmail.com',
		'gmail.con': 'gmail.com',
		'gamil.com': 'gmail.com',
		'yahooo.com': 'yahoo.com',
		'hotmial.com': 'hotmail.com',
		'hotmal.con': 'hotmail.com',
		'outlok.com': 'outlook.com',
		'iclod.com': 'icloud.com',
		'protonmal.com': 'protonmail.com',
		'acme.con': 'acme.com',
	}
	for (const [typed, meant] of Object.entries(slips)) t.is(meantDomain(typed), meant)
	const names =
		'gmail.com mail.com email.com ymail.com gmx.net gmx.de web.de web.dev live.nl yahoo.fr yahoo.co.uk hotmail.fr outlook.de like.com cloud.com company.com example.com acme.co acme.io proton.me'
	for (const name of names.split(' ')) t.is(meantDomain(name), undefined, name)
})

test('an invalid address is refused, and only the secret key may ask', async (t) => {
	const { post, withPublicKey } = await setupVerify(t, {})
	for (const email of ['nobody', 'a@b', '', 7, undefined]) {
		const { errors } = isEnvelope(t, await post({ email }), 422, 'VALIDATION_ERROR')
		t.is(errors[0].field, 'email')
	}
	isEnvelope(t, await post({ email: 'a@b.io' }, withPublicKey), 401, 'INVALID_API_KEY')
})

test('a request that waits for name servers takes no place from others', async (t) => {
	const silent = ['a.io', 'b.io', 'c.io']
	const zone = Object.fromEntries(silent.map((domain) => [domain, 'silence' as const]))
	const { app, post, dns } = await setupVerify(t, zone, { requests: 2 })
	const waiting = []
	for (const domain of silent) {
		waiting.push(post({ email: `ann@${domain}` }))
		while (!dns.queries.includes(`MX ${domain}`)) await sleep(5)
		t.is((await app.inject('/config')).statusCode, 200)
	}
	for (const answer of await Promise.all(waiting)) t.is(answer.statusCode, 200)
})

test('fifty addresses may be checked at once', async (t) => {
	const domains = Array.from({ length: 50 }, (_, n) => `d${n}.io`)
	const { post } = await setupVerify(t, Object.fromEntries(domains.map((name) => [name, whole])))
	const answers = await Promise.all(domains.map((name) => post({ email: `ann@${name}` })))
	for (const answer of answers) t.true(answer.json().data.hasMxRecords, answer.body)
})

test('a flood of checks is refused, and delays no other project', async (t) => {
	const { orm, post } = await setupVerify(t, { 'silent.io': 'silence', 'acme.io': whole })
	const { withSecretKey: other } = await createProject(orm)
	const flood = Array.from({ length: 150 }, () => post({ email: 'ann@silent.io' }))
	const refused = await Promise.race(
		flood.map(async (answer) => ((await answer).statusCode === 200 ? null : answer)),
	)
	const { suggestion } = isEnvelope(t, refused!, 429, 'RATE_LIMIT_EXCEEDED')
	t.regex(suggestion, /earlier checks/)
	t.is(refused!.headers['retry-after'], '1')
	const answer = await post({ email: 'ann@acme.io' }, other)
	t.true(answer.json().data.hasMxRecords, answer.body)
	await Promise.all(flood)
})
