import test from 'ava'
import { randomUUID } from 'node:crypto'
import { patchContact } from '../db/contacts/contact-writing.ts'
import { Event } from '../db/events/event.ts'
import { Segment } from '../db/segments/segment.ts'
import { createProject } from './helpers/app.ts'
import { isEnvelope, uuid } from './helpers/envelope.ts'
import { setupEvents } from './helpers/events.ts'

const namesOf = ({ events }: { events: { name: string }[] }) => events.map(({ name }) => name)

test('POST /events/track takes the body of /v1/track and answers as it does', async (t) => {
	const { call, orm } = await setupEvents(t)
	const body = { email: 'Ann@example.org', event: 'order', data: { plan: 'pro' } }
	const response = await call('POST', '/events/track', body)
	t.is(response.statusCode, 200)
	const { success, data } = response.json()
	t.true(success)
	const event = await orm.em.fork().findOneOrFail(Event, { id: data.event })
	t.like(event, { contactId: data.contact, name: 'order', data: { plan: 'pro' } })
})

test('POST /events/track takes a bare event too', async (t) => {
	const { call, createContact } = await setupEvents(t)
	const contact = await createContact('ann@example.org')
	const data = { total: 5, code: { value: 'X', persistent: false } }
	const response = await call('POST', '/events/track', {
		name: ' order ',
		contactId: contact.id,
		data,
	})
	t.is(response.statusCode, 201, response.body)
	const { id, createdAt, ...event } = response.json()
	t.regex(id, uuid)
	t.is(new Date(createdAt).toISOString(), createdAt)
	t.deepEqual(event, {
		name: 'order',
		data: { total: 5, code: 'X' },
		contactId: contact.id,
		emailId: null,
	})
	t.is((await call('POST', '/events/track', { name: 'nobody' })).statusCode, 201)
})

test("an event on another project's contact or mail is refused", async (t) => {
	const { call, createContact, orm } = await setupEvents(t)
	const { project } = await createProject(orm)
	const { id } = await createContact('ann@example.org', project.id)
	const ofContact = await call('POST', '/events/track', { name: 'order', contactId: id })
	isEnvelope(t, ofContact, 404, 'CONTACT_NOT_FOUND')
	const ofMail = await call('POST', '/events/track', { name: 'order', emailId: id })
	isEnvelope(t, ofMail, 404, 'RESOURCE_NOT_FOUND')
	t.is(await orm.em.fork().count(Event), 0)
})

test('each kind of body gets its own faults', async (t) => {
	const { call } = await setupEvents(t)
	const errorsOf = async (body: object) => {
		const response = await call('POST', '/events/track', body)
		const { errors } = isEnvelope(t, response, 422, 'VALIDATION_ERROR')
		return errors.map(({ field, code }: Record<string, string>) => `${field}: ${code}`)
	}
	t.deepEqual(await errorsOf({ name: 'order', email: 'ann@example.org' }), [
		'email: unrecognized_keys',
	])
	t.deepEqual(await errorsOf({ name: 'email.open', contactId: 'x', data: [] }), [
		'contactId: invalid_string',
		'data: invalid_type',
		'name: reserved_event',
	])
	t.deepEqual(await errorsOf({ email: 'x', event: 'contact.subscribed' }), [
		'email: invalid_string',
		'event: reserved_event',
	])
	t.deepEqual(await errorsOf({}), ['email: required', 'event: required'])
	t.deepEqual(await errorsOf([]), [': invalid_type'])
})

test('the latest events come first, of one name if asked, with their contacts', async (t) => {
	const { add, get, createContact } = await setupEvents(t)
	const { id, email } = await createContact('ann@example.org')
	await add({ name: 'a', contactId: id })
	await add({ name: 'b' })
	await add({ name: 'a', data: { n: 2 } })
	const all = await get('/events')
	t.deepEqual(namesOf(all), ['a', 'b', 'a'])
	t.is(all.events[0].contact, null)
	t.deepEqual(all.events[2].contact, { id, email })
	t.deepEqual(Object.keys(all.events[0]).toSorted(), [
		'contact',
		'contactId',
		'createdAt',
		'data',
		'emailId',
		'id',
		'name',
	])
	t.deepEqual((await get('/events?eventName=a')).events[0].data, { n: 2 })
	t.is((await get('/events?eventName=a')).events.length, 2)
	t.is((await get('/events?limit=1')).events.length, 1)
	t.is((await get('/events?limit=5000')).events.length, 3)
})

test('a bad limit is a 400', async (t) => {
	const { call } = await setupEvents(t)
	for (const limit of ['0', '-1', 'x', '1.5'])
		isEnvelope(t, await call('GET', `/events?limit=${limit}`), 400, 'BAD_REQUEST')
})

test("a contact's latest events come first, across all names", async (t) => {
	const { add, get, call, createContact } = await setupEvents(t)
	const { id } = await createContact('ann@example.org')
	const other = await createContact('bob@example.org')
	const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
	await add(
		{ name: 'c', contactId: id, createdAt: at(1) },
		{ name: 'a', contactId: id, createdAt: at(2) },
		{ name: 'b', contactId: id, createdAt: at(3) },
		{ name: 'a', contactId: id, createdAt: at(4) },
		{ name: 'x', contactId: other.id, createdAt: at(5) },
	)
	t.deepEqual(namesOf(await get(`/events/contact/${id}`)), ['a', 'b', 'a', 'c'])
	t.deepEqual(namesOf(await get(`/events/contact/${id}?limit=3`)), ['a', 'b', 'a'])
	const nobody = await createContact('carl@example.org')
	t.deepEqual(await get(`/events/contact/${nobody.id}`), { events: [], hasMore: false })
	for (const unknown of [randomUUID(), 'x'])
		isEnvelope(t, await call('GET', `/events/contact/${unknown}`), 404, 'CONTACT_NOT_FOUND')
})

test("a contact's newest event is the one that happened last, whichever transaction began first", async (t) => {
	const { app, createContact, get, pool, project, withSecretKey: headers } = await setupEvents(t)
	const { id } = await createContact('ann@example.org')
	const late = await pool.connect()
	t.teardown(() => late.release())
	await late.query('begin')
	await late.query('select now()')
	const payload = { subscribed: false }
	const flip = await app.inject({ method: 'PATCH', url: `/contacts/${id}`, headers, payload })
	t.is(flip.statusCode, 200)
	await patchContact(late, {
		projectId: project.id,
		contactId: id,
		email: null,
		subscribed: true,
		data: {},
		removedKeys: [],
		replacesData: false,
	})
	await late.query('commit')
	t.deepEqual(namesOf(await get(`/events/contact/${id}`)), [
		'contact.subscribed',
		'contact.unsubscribed',
	])
})

test('names come commonest first, and go with their last event', async (t) => {
	const { add, get, call } = await setupEvents(t)
	await add({ name: 'rare' }, { name: 'common' }, { name: 'common' })
	t.deepEqual(await get('/events/names'), { eventNames: ['common', 'rare'] })
	t.is((await call('DELETE', '/events/common')).statusCode, 200)
	t.deepEqual(await get('/events/names'), { eventNames: ['rare'] })
})

test('stats count from the first moment to the last, a last day whole', async (t) => {
	const { add, get } = await setupEvents(t)
	const at = (moment: string, name = 'order') => ({ name, createdAt: new Date(moment) })
	await add(
		at('2026-03-01T10:00:00.000Z'),
		at('2026-03-02T00:00:00.000Z'),
		at('2026-03-02T12:00:00.000Z', 'visit'),
		at('2026-03-02T23:59:59.999Z'),
		at('2026-03-03T00:00:00.000Z'),
		at('2026-03-04T08:00:00.000Z'),
	)
	const total = async (query: string) => {
		const stats: { name: string; count: number }[] = await get(`/events/stats?${query}`)
		return Object.fromEntries(stats.map(({ name, count }) => [name, count]))
	}
	t.deepEqual(await total(''), { order: 5, visit: 1 })
	t.deepEqual(await total('startDate=2026-03-02&endDate=2026-03-02'), { order: 2, visit: 1 })
	t.deepEqual(await total('startDate=2026-03-02T12:00:00Z'), { order: 3, visit: 1 })
	t.deepEqual(await total('endDate=2026-03-02T00:00:00.000Z'), { order: 2 })
	t.deepEqual(await total('startDate=2026-03-01T10:00:00.001Z&endDate=2026-03-03'), {
		order: 3,
		visit: 1,
	})
	t.deepEqual(await total('startDate=2026-03-02T12:00:00Z&endDate=2026-03-02T12:00:00Z'), {
		visit: 1,
	})
	t.deepEqual(await total('startDate=2026-03-02T01:00:00%2B02:00&endDate=2026-03-02'), {
		order: 2,
		visit: 1,
	})
	t.deepEqual(await total('startDate=2027-01-01'), {})
})

test('an invalid date is a 400', async (t) => {
	const { call } = await setupEvents(t)
	for (const query of [
		'startDate=yesterday',
		'endDate=2026-02-30',
		'startDate=5',
		'startDate=',
		'startDate=2026-03-02&endDate=2026-03-01',
	]) {
		const response = await call('GET', `/events/stats?${query}`)
		const { errors } = isEnvelope(t, response, 400, 'BAD_REQUEST')
		t.is(errors.length, 1)
	}
})

test('usage counts events and the contacts they are of', async (t) => {
	const { add, get, createContact } = await setupEvents(t)
	const { id } = await createContact('ann@example.org')
	const name = 'plan / upgraded.to?pro'
	await add({ name, contactId: id }, { name, contactId: id }, { name }, { name: 'other' })
	t.deepEqual(await get(`/events/${encodeURIComponent(name)}/usage`), {
		usedInSegments: [],
		usedInCampaigns: [],
		usedInWorkflows: [],
		totalCount: 3,
		uniqueContacts: 1,
		canDelete: true,
	})
	t.like(await get('/events/unknown/usage'), { totalCount: 0, uniqueContacts: 0 })
	t.false((await get('/events/email.sent/usage')).canDelete)
})

test('the usage of an event is found under any name', async (t) => {
	const { add, get } = await setupEvents(t)
	for (const name of ['contact', 'names', 'stats', 'track', 'usage']) {
		await add({ name })
		t.like(await get(`/events/${name}/usage`), { totalCount: 1, canDelete: true }, name)
	}
})

test('an event that segments refer to is said to be used, and is not deleted', async (t) => {
	const { add, call, get, orm, project } = await setupEvents(t)
	const other = await createProject(orm)
	await add({ name: 'plan.up' }, { name: 'plan' })
	const filter = (field: string) => ({ field, operator: 'triggered' })
	const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] })
	const nested = {
		logic: 'OR',
		groups: [
			{
				filters: [filter('event.x')],
				conditions: tree(filter('email.sent'), filter('event.plan.up')),
			},
		],
	}
	const em = orm.em.fork()
	const create = (name: string, condition: object, projectId = project.id) =>
		em.create(Segment, { name, projectId, condition: condition as never })
	const used = create('Upgraders', nested)
	create('Others', tree(filter('event.plan.upper'), filter('data.plan.up')))
	create('Theirs', nested, other.project.id)
	em.create(Segment, { name: 'Static', projectId: project.id, type: 'STATIC' })
	await em.flush()
	const usedInSegments = [{ id: used.id, name: 'Upgraders' }]
	t.like(await get('/events/plan.up/usage'), { usedInSegments, totalCount: 1, canDelete: false })
	const refused = await call('DELETE', '/events/plan.up')
	const { details } = isEnvelope(t, refused, 409, 'CONFLICT')
	t.deepEqual(details, { usedInSegments, usedInCampaigns: [], usedInWorkflows: [] })
	t.deepEqual(await get('/events/names'), { eventNames: ['plan', 'plan.up'] })
	t.deepEqual((await call('DELETE', '/events/plan')).json(), { deletedCount: 1 })
})

test('a deletion takes all events of the name, and no others', async (t) => {
	const { call, get, pool, project } = await setupEvents(t)
	const name = '你'.repeat(255)
	await pool.query(
		`insert into events (project_id, name)
		select $1, case when n % 2 = 0 then $2 else 'other' end from generate_series(1, 50000) n`,
		[project.id, name],
	)
	const response = await call('DELETE', `/events/${encodeURIComponent(name)}`)
	t.is(response.statusCode, 200, response.body)
	t.deepEqual(response.json(), { deletedCount: 25_000 })
	t.deepEqual(await get('/events/stats'), [{ name: 'other', count: 25_000 }])
	t.deepEqual((await call('DELETE', '/events/unknown')).json(), { deletedCount: 0 })
})

test("the service's own events cannot be deleted", async (t) => {
	const { add, call, get } = await setupEvents(t)
	await add({ name: 'email.sent' })
	for (const name of ['email.sent', 'contact.subscribed', 'segment.vip.entry'])
		isEnvelope(t, await call('DELETE', `/events/${name}`), 400, 'BAD_REQUEST')
	t.deepEqual(await get('/events/names'), { eventNames: ['email.sent'] })
})

test('no project sees, counts or deletes the events of another', async (t) => {
	const { add, app, call, get, orm } = await setupEvents(t)
	const other = await createProject(orm)
	await add({ name: 'theirs', projectId: other.project.id })
	t.deepEqual(await get('/events'), { events: [] })
	t.deepEqual(await get('/events/names'), { eventNames: [] })
	t.deepEqual(await get('/events/stats'), [])
	t.like(await get('/events/theirs/usage'), { totalCount: 0 })
	t.deepEqual((await call('DELETE', '/events/theirs')).json(), { deletedCount: 0 })
	const response = await app.inject({ url: '/events/names', headers: other.withSecretKey })
	t.deepEqual(response.json(), { eventNames: ['theirs'] })
})
