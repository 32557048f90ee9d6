import { randomUUID } from 'node:crypto'
import test from 'ava'
import { Contact } from '../db/contacts/contact.ts'
import { Email } from '../db/emails/email.ts'
import { mailsOfClaim } from '../db/emails/ledger.ts'
import { Project } from '../db/projects/project.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { claim, claimOf } from './helpers/ledger.ts'
import { oneClick, setupPublic, textOf, untouched } from './helpers/public-pages.ts'

test('a contact sees itself, and decides for itself', async (t) => {
	const { get, post, orm, id, state } = await setupPublic(t)
	await orm.em.fork().nativeUpdate(Contact, { id }, { data: { locale: 'de_AT', plan: 'pro' } })
	const url = `/contacts/public/${id}`
	const contact = { id, email: 'anna@example.org' }
	t.deepEqual((await get(url)).json(), { ...contact, subscribed: true, language: 'de-AT' })

	const left = await post(`${url}/unsubscribe`, { payload: {} })
	t.is(left.statusCode, 200)
	t.deepEqual(left.json(), { ...contact, subscribed: false })
	t.deepEqual((await post(`${url}/unsubscribe`)).json(), { ...contact, subscribed: false })
	t.deepEqual((await post(`${url}/subscribe`)).json(), { ...contact, subscribed: true })
	t.deepEqual((await state()).events, ['contact.unsubscribed', 'contact.subscribed'])

	for (const unknown of [randomUUID(), 'x'])
		for (const [method, path] of [
			['GET', ''],
			['POST', '/subscribe'],
			['POST', '/unsubscribe'],
		] as const) {
			const ask = method === 'GET' ? get : post
			const answer = await ask(`/contacts/public/${unknown}${path}`)
			isEnvelope(t, answer, 404, 'CONTACT_NOT_FOUND')
		}
})

test('of many simultaneous subscription changes one takes effect, with one event', async (t) => {
	const { post, id, emailId, state } = await setupPublic(t)
	const query = `${id}?e=${emailId}`
	for (let round = 1; round <= 3; round++) {
		await Promise.all(
			Array.from({ length: 12 }, (_, i) =>
				i % 2
					? post(`/unsubscribe/${query}`, oneClick)
					: post(`/contacts/public/${id}/unsubscribe?e=${emailId}`),
			),
		)
		t.is((await state()).events.length, 2 * round - 1)
		await Promise.all(Array.from({ length: 6 }, () => post(`/subscribe/${query}`)))
		t.is((await state()).events.length, 2 * round)
	}
	t.deepEqual(
		new Set((await state()).events),
		new Set(['contact.unsubscribed by mail', 'contact.subscribed by mail']),
	)
	t.like(await state(), { subscribed: true, unsubscribedBy: [emailId] })
})

test('an unsubscribe is remembered only on a mail to this very contact', async (t) => {
	const { sent, post, id, state, orm, newProject, app, emailId } = await setupPublic(t)
	const toAnother = await sent({ to: 'bert@example.org', subscribed: true })
	const stranger = await newProject('elsewhere.example')
	const elsewhere = await app.inject({
		method: 'POST',
		url: '/v1/send',
		headers: stranger.withSecretKey,
		payload: { to: 'anna@example.org', from: 'a@elsewhere.example', subject: 'Hi', body: 'Hi' },
	})
	const theirs = elsewhere.json().data.emails[0].email
	for (const e of [toAnother.id, theirs, randomUUID(), 'x', '', `${emailId}&e=${emailId}`]) {
		await orm.em.fork().nativeUpdate(Contact, { id }, { subscribed: true })
		const answer = await post(`/unsubscribe/${id}?e=${e}`, oneClick)
		t.is(answer.statusCode, 200, e)
		t.like(await state(), { subscribed: false, unsubscribedBy: [] }, e)
	}
	t.deepEqual(new Set((await state()).events), new Set(['contact.unsubscribed']))

	// An unsubscription without a change is not recorded either: the change came from elsewhere.
	await post(`/unsubscribe/${id}?e=${emailId}`, oneClick)
	t.deepEqual((await state()).unsubscribedBy, [])
	await orm.em.fork().nativeUpdate(Contact, { id }, { subscribed: true })
	await post(`/unsubscribe/${id}?e=${emailId}`, oneClick)
	const { unsubscribedBy } = await state()
	t.deepEqual(unsubscribedBy, [emailId])
	const { unsubscribedAt } = await orm.em.fork().findOneOrFail(Email, { id: emailId })
	t.true(unsubscribedAt! <= new Date())
})

test('contacts of a disabled project can leave', async (t) => {
	const { get, post, orm, project, id, state } = await setupPublic(t)
	const disabledReason = 'EMAIL_REPUTATION'
	await orm.em.fork().nativeUpdate(Project, { id: project.id }, { disabledReason })
	t.is((await get(`/unsubscribe/${id}`)).statusCode, 200)
	t.deepEqual(await state(), untouched)
	t.is((await post(`/unsubscribe/${id}`, oneClick)).statusCode, 200)
	t.like(await state(), { subscribed: false })
	t.is((await post(`/contacts/public/${id}/subscribe`)).statusCode, 200)
	t.like(await state(), { subscribed: true })
})

test('a contact that wants no mail at all gets none, with the reason', async (t) => {
	const { submit, sent, id, emailId, pool } = await setupPublic(t)
	await submit(`/manage/${id}?e=${emailId}`, { choice: 'none' })
	const { rows } = await pool.query('select email, reason, email_id from suppressions')
	t.deepEqual(rows, [{ email: 'anna@example.org', reason: 'UNSUBSCRIBED_ALL', email_id: emailId }])
	const next = await sent()
	const open = (
		await mailsOfClaim(pool, { claimId: claimOf((await claim(pool))[0]), provider: 'local' })
	).find(({ id }) => id === next.id)
	t.is(open!.barred, 'SUPPRESSED')
	t.regex(open!.barred_because!, /UNSUBSCRIBED_ALL/)
})

test('the wish for no mail at all and any other reason on the list do not touch each other', async (t) => {
	const {
		submit,
		get,
		app,
		id,
		emailId,
		pool,
		project,
		withSecretKey: headers,
	} = await setupPublic(t)
	const listed = async () => {
		const { rows } = await pool.query<{ reason: string }>('select reason from suppressions')
		return rows.map(({ reason }) => reason)
	}
	const choose = async (choice: 'none' | 'all') => {
		const { body } = await submit(`/manage/${id}?e=${emailId}`, { choice })
		t.regex(body, /saved/)
		const page = (await get(`/manage/${id}?e=${emailId}`)).body
		const [input] = page.match(/<input[^>]*value="none"[^>]*>/)!
		t.is(input.includes('checked'), choice === 'none')
	}
	const unlist = async () => {
		const url = '/suppressions/anna@example.org'
		t.is((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
	}
	const list = (reason: string) =>
		pool.query(
			`insert into suppressions (project_id, email, reason) values ($1, 'anna@example.org', $2)`,
			[project.id, reason],
		)
	for (const reason of ['BOUNCE', 'MANUAL']) {
		await list(reason)
		await choose('none')
		t.deepEqual(await listed(), [reason])
		await choose('all')
		t.deepEqual(await listed(), [reason])
		await choose('none')
		await unlist()
		t.deepEqual(await listed(), ['UNSUBSCRIBED_ALL'])
		await unlist()
		t.deepEqual(await listed(), [])
	}
	const add = (reason?: string) =>
		app.inject({
			method: 'POST',
			url: '/suppressions',
			headers,
			payload: { email: 'anna@example.org', reason },
		})
	for (const reason of ['MANUAL', 'COMPLAINT']) {
		await choose('none')
		const added = await add(reason)
		t.is(added.statusCode, 200)
		t.is(added.json().reason, reason)
		t.is((await add('UNSUBSCRIBED_ALL')).json().reason, reason)
		await choose('all')
		t.deepEqual(await listed(), [reason])
		await unlist()
		t.deepEqual(await listed(), [])
	}
	await choose('none')
	await pool.query(
		`insert into events (project_id, name, email_id, data) values ($1, 'email.bounce', $2, '{"bounceType": "Permanent"}')`,
		[project.id, emailId],
	)
	t.deepEqual(await listed(), ['BOUNCE'])
	await choose('all')
	t.deepEqual(await listed(), ['BOUNCE'])
})

test('the public key neither stops nor resumes all mail to an address: that requires a received mail', async (t) => {
	const { app, get, post, submit, sent, emailId, state, withPublicKey } = await setupPublic(t)
	const tracked = await app.inject({
		method: 'POST',
		url: '/v1/track',
		headers: withPublicKey,
		payload: { email: 'anna@example.org', event: 'visited' },
	})
	const id: string = tracked.json().data.contact
	const toAnother = await sent({ to: 'bert@example.org', subscribed: true })
	const suppressed = async () => (await state()).suppressed
	const withoutMail = ['', `?e=${toAnother.id}`, `?e=${randomUUID()}`, '?e=x']

	for (const query of withoutMail) {
		const { body } = await get(`/manage/${id}${query}`)
		t.notRegex(body, /value="none"/)
		t.regex(textOf(body), /To stop all emails.* open this page from the link in one of them/)
		t.notRegex(textOf((await submit(`/manage/${id}${query}`, { choice: 'none' })).body), /saved/)
		t.like(await state(), { subscribed: false, suppressed: [] })
		await submit(`/manage/${id}${query}`, { choice: 'all' })
	}
	const { body } = await get(`/manage/${id}?e=${emailId}`)
	t.regex(body, /value="none"/)
	t.notRegex(textOf(body), /open this page from/)

	await submit(`/manage/${id}?e=${emailId}`, { choice: 'none' })
	for (const query of withoutMail) {
		for (const page of ['subscribe', 'manage']) {
			const { body } = await submit(`/${page}/${id}${query}`, { choice: 'all' })
			t.regex(textOf(body), /anna@example\.org gets no emails at all from Test project/)
			t.notRegex(body, /<form/)
		}
		await post(`/contacts/public/${id}/subscribe${query}`)
		t.deepEqual(await suppressed(), ['UNSUBSCRIBED_ALL'])
		t.notRegex((await submit(`/unsubscribe/${id}${query}`, {})).body, /<form/)
	}
	await post(`/contacts/public/${id}/subscribe?e=${emailId}`)
	t.deepEqual(await suppressed(), [])
})

const laterOn: Record<string, string> = {
	en: 'Please try again later',
	de: 'Bitte versuchen Sie es später noch einmal',
	fr: 'Veuillez réessayer plus tard',
	es: 'Inténtelo de nuevo más tarde',
	nl: 'Probeer het later nog eens',
}
test('subscribing again and again is limited, unsubscribing is not', async (t) => {
	const { post, submit, createContact, id, state, pool } = await setupPublic(t)
	const subscribing = [
		() => post(`/subscribe/${id}`),
		() => submit(`/manage/${id.toUpperCase()}`, { choice: 'all' }),
		() => post(`/contacts/public/${id}/subscribe`),
	]
	const fro = () => post(`/unsubscribe/${id}`, oneClick)
	for (let n = 0; n < 20; n++) {
		t.is((await fro()).statusCode, 200)
		t.is((await subscribing[n % 3]!()).statusCode, 200)
	}
	t.is((await fro()).statusCode, 200)
	const { length } = (await state()).events
	t.is(length, 41)
	for (const subscribe of subscribing) {
		const answer = await subscribe()
		t.is(answer.statusCode, 429)
		t.true(Number(answer.headers['retry-after']) > 0)
	}
	isEnvelope(t, await subscribing[2]!(), 429, 'RATE_LIMIT_EXCEEDED')
	for (const [language, words] of Object.entries(laterOn)) {
		const headers = { 'accept-language': language }
		t.true((await post(`/subscribe/${id}`, { headers })).body.includes(words))
	}
	t.is((await post(`/contacts/public/${id}/unsubscribe`)).statusCode, 200)
	t.is((await submit(`/manage/${id}`, { choice: 'necessary' })).statusCode, 200)
	t.is((await fro()).statusCode, 200)
	t.is((await state()).events.length, length)

	const other = await createContact('bert@example.org')
	t.is((await post(`/subscribe/${other.id}`)).statusCode, 200)
	// A look-up of an unknown contact leaves nothing behind either.
	const rows = async () => (await pool.query('select from throttles')).rowCount
	const kept = await rows()
	t.is((await post(`/subscribe/${randomUUID()}`)).statusCode, 404)
	t.is(await rows(), kept)
})
