import test from 'ava'
import { openCampaigns, plan, whole } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'

test('a campaign may be empty until its time, and then ends as SENT with zero', async (t) => {
	const { call, create, act, activities, get, progress, contacts, query } = await openCampaigns(t)
	const { id } = await create()
	isEnvelope(t, await call('POST', `/${id}/send`), 400, 'BAD_REQUEST')
	const answer = await call('POST', `/${id}/send`, { scheduledFor: '2099-01-31T12:00:00Z' })
	t.is(answer.statusCode, 200, answer.body)
	t.like(await act(activities.advanceCampaign, id), { act: 'wait' })
	await query(`update campaigns set scheduled_for = now()`)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
	await act(activities.materialiseCampaign, id)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
	t.like(await get(id), { status: 'SENT', totalRecipients: 0, sentCount: 0 })
	t.like(await progress(id), { total: 0, sent: 0 })
	await contacts(1)
	t.is((await get(id)).totalRecipients, 0)
})

test('a new audience replaces the former one completely', async (t) => {
	const { call, create, request } = await openCampaigns(t)
	const segment = (await request('POST', '/segments', { name: 'Mine', type: 'STATIC' })).json()
	const { id } = await create({ audienceType: 'SEGMENT', segmentId: segment.id })
	const put = async (body: object) => (await call('PUT', `/${id}`, body)).json()
	t.like(await put({ audienceType: 'ALL' }), { segmentId: null, audienceCondition: null })
	const condition = plan('pro')
	const filtered = await put({ audienceType: 'FILTERED', audienceCondition: condition })
	t.like(filtered, { segmentId: null, audienceCondition: condition })
	t.like(await put({ name: 'Summer' }), { audienceType: 'FILTERED', audienceCondition: condition })
	const chosen = await put({ audienceType: 'SEGMENT', segmentId: segment.id })
	t.like(chosen, { segmentId: segment.id, audienceCondition: null })
	t.is((await put({ audienceType: 'ALL' })).segmentId, null)
	t.is((await request('DELETE', `/segments/${segment.id}`)).statusCode, 204)
})

test('a test mail to a suppressed address is refused, and says how to lift it', async (t) => {
	const { call, create, request, query } = await openCampaigns(t)
	const { id } = await create()
	await request('POST', '/suppressions', { email: 'me@example.org' })
	const answer = await call('POST', `/${id}/test`, { email: 'Me@example.org' })
	const { details } = isEnvelope(t, answer, 409, 'CONFLICT')
	t.deepEqual(details, { email: 'me@example.org', reason: 'MANUAL' })
	t.deepEqual(await query('select from emails'), [])
	await request('DELETE', '/suppressions/me@example.org')
	t.is((await call('POST', `/${id}/test`, { email: 'me@example.org' })).statusCode, 200)
})

test('campaigns and templates take a sender with a name, as /v1/send does', async (t) => {
	const { call, request } = await openCampaigns(t)
	const from = { name: ' News ', email: 'News@Example.com' }
	const template = { name: 'A', subject: 'B', body: 'C', from }
	for (const [path, changing] of [
		['/campaigns', 'PUT'],
		['/templates', 'PATCH'],
	] as const) {
		const payload = path === '/campaigns' ? { ...whole, from } : template
		const answer = await request('POST', path, payload)
		t.is(answer.statusCode, 201, answer.body)
		const made = answer.json().data ?? answer.json()
		t.like(made, { from: 'news@example.com', fromName: 'News' })
		const change = (body: object) => request(changing, `${path}/${made.id}`, body)
		const plain = await change({ from: { email: 'hi@example.com' } })
		t.like(plain.json(), { from: 'hi@example.com', fromName: 'News' })
		const both = await change({ from: { email: 'hi@example.com', name: '' }, fromName: 'Us' })
		t.is(both.json().fromName, 'Us')
		const wrong = await change({ from: { name: 'News' } })
		t.is(isEnvelope(t, wrong, 422, 'VALIDATION_ERROR').errors[0].field, 'from.email')
		const foreign = await change({ from: { email: 'hi@example.net' } })
		isEnvelope(t, foreign, 403, 'INTERNAL_SERVER_ERROR')
	}
	t.is((await request('POST', '/templates', { ...template, from: 5 })).statusCode, 400)
	t.is((await call('POST', '', { ...whole, from: 5 })).statusCode, 422)
})

test('a name of spaces only is refused wherever something is named', async (t) => {
	const { request } = await openCampaigns(t)
	const template = { subject: 'B', body: 'C', from: 'news@example.com' }
	const bodies: [string, object][] = [
		['/segments', { type: 'STATIC' }],
		['/templates', template],
		['/workflows', { eventName: 'order' }],
		['/campaigns', whole],
	]
	for (const [path, body] of bodies)
		for (const name of [' ', '\t\n', '\u00a0'])
			isBlank(await request('POST', path, { ...body, name }))
	for (const [path, body] of bodies) {
		const made = (await request('POST', path, { ...body, name: 'A' })).json()
		const { id } = made.data ?? made
		isBlank(await request(path === '/campaigns' ? 'PUT' : 'PATCH', `${path}/${id}`, { name: '  ' }))
	}

	function isBlank(answer: Parameters<typeof isEnvelope>[1]) {
		const { errors } = isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
		t.deepEqual(
			errors.map(({ field, message }: { field: string; message: string }) => `${field} ${message}`),
			['name must not be blank'],
		)
	}
})
