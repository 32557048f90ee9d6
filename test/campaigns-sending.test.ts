import test from 'ava'
import { openCampaigns, plan, whole } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'

const noAddress =
	'This project has no postal address. Many countries require one in marketing mail. Set it with PATCH /users/@me/projects/{id}.'

test('a marketing campaign without a postal address is sent with a warning, others without', async (t) => {
	const { call, create, contacts, query } = await openCampaigns(t)
	await contacts(1)
	const warnings = async (type: string) => {
		const { id } = await create({ type })
		return (await call('POST', `/${id}/send`)).json().data.warnings
	}
	t.deepEqual(await warnings('MARKETING'), [noAddress])
	t.deepEqual(await warnings('TRANSACTIONAL'), [])
	await query(`update projects set postal_address = 'Street 1'`)
	t.deepEqual(await warnings('MARKETING'), [])
})

test('sent without a time a campaign is SENDING at once, and its run is signalled', async (t) => {
	const { call, create, contacts, query, wakes, project } = await openCampaigns(t)
	await contacts(2)
	for (const payload of [undefined, {}, { scheduledFor: null }]) {
		const { id } = await create()
		const answer = await call('POST', `/${id}/send`, payload)
		t.is(answer.statusCode, 200, answer.body)
		t.deepEqual(answer.json(), {
			success: true,
			message: 'The campaign is being sent',
			data: { id, name: 'Spring', status: 'SENDING', scheduledFor: null, warnings: [noAddress] },
		})
		t.like((await call('GET', `/${id}`)).json(), { status: 'SENDING', totalRecipients: 2 })
		const told = await query(
			`select kind, workflow_type, task_queue, priority, payload, search_attributes from outbox
			where workflow_id = $1`,
			[`campaign/${id}`],
		)
		t.deepEqual(told, [
			{
				// A single signal-with-start, so that it is never lost between an ending run and the next one.
				kind: 'signal',
				workflow_type: 'campaign',
				task_queue: 'core',
				priority: 5,
				payload: { name: 'changed', argument: { projectId: project.id, campaignId: id } },
				search_attributes: { CampaignId: id },
			},
		])
	}
	t.is(wakes.count, 3)
})

test('a misspelt time sends nothing, and the answer names the right member', async (t) => {
	const { call, create, contacts, get } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	for (const name of ['sendAt', 'scheduled_for', 'scheduledfor', 'delay']) {
		const answer = await call('POST', `/${id}/send`, { [name]: '2099-01-31T12:00:00Z' })
		const { errors } = isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
		t.deepEqual(errors, [
			{ field: name, message: 'is not allowed here, only scheduledFor', code: 'unrecognized_keys' },
		])
	}
	t.is((await get(id)).status, 'DRAFT')
})

test('any time that JavaScript reads schedules it, again and again', async (t) => {
	const { call, create, contacts } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	const times = [
		'2099-01-31T12:00:00Z',
		'2099-01-31T12:00:00+02:00',
		'Tue, 05 Nov 2099 12:00:00 GMT',
		'2099',
		'1 January 1970',
		'+275760-09-13T00:00:00.000Z',
		'0001-01-01',
	]
	for (const scheduledFor of times) {
		const answer = await call('POST', `/${id}/send`, { scheduledFor })
		t.is(answer.statusCode, 200, answer.body)
		const time = new Date(scheduledFor).toISOString()
		t.like(answer.json(), { message: `The campaign is scheduled for ${time}` })
		t.like(answer.json().data, { status: 'SCHEDULED', scheduledFor: time })
		t.like((await call('GET', `/${id}`)).json(), { status: 'SCHEDULED', scheduledFor: time })
	}
	t.is((await call('POST', `/${id}/send`, { scheduledFor: '-271821-04-20' })).statusCode, 200)
	t.is((await call('POST', `/${id}/send`)).json().data.status, 'SENDING')
	t.is((await call('GET', `/${id}`)).json().scheduledFor, null)
})

test('an invalid time is refused and changes nothing', async (t) => {
	const { call, create, contacts, get, query } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	for (const scheduledFor of ['soon', '', '2099-13-01', 'x'.repeat(1000)]) {
		const error = isEnvelope(
			t,
			await call('POST', `/${id}/send`, { scheduledFor }),
			400,
			'BAD_REQUEST',
		)
		t.is(error.errors[0].field, 'scheduledFor')
	}
	for (const scheduledFor of [5, true, {}, ['2099-01-01']])
		isEnvelope(t, await call('POST', `/${id}/send`, { scheduledFor }), 422, 'VALIDATION_ERROR')
	t.like(await get(id), { status: 'DRAFT', scheduledFor: null })
	t.deepEqual(await query('select from outbox'), [])
})

test('without recipients, sender or segment nothing is sent', async (t) => {
	const { call, create, contacts, query, request, get } = await openCampaigns(t)
	await contacts(3, { subscribed: false })
	const { id } = await create()
	isEnvelope(t, await call('POST', `/${id}/send`), 400, 'BAD_REQUEST')
	await contacts(1, {}, 'other')
	await query(`update domains set verified_at = null`)
	isEnvelope(t, await call('POST', `/${id}/send`), 403, 'INTERNAL_SERVER_ERROR')
	await query(`update domains set verified_at = now()`)
	const segment = (await request('POST', '/segments', { name: 'S', type: 'STATIC' })).json()
	await call('PUT', `/${id}`, { audienceType: 'SEGMENT', segmentId: segment.id })
	await query(`delete from segments`)
	isEnvelope(t, await call('POST', `/${id}/send`), 404, 'RESOURCE_NOT_FOUND')
	t.is((await get(id)).status, 'DRAFT')
	t.deepEqual(await query('select from outbox'), [])
})

// Serial: the other tests would take some of the turns of this process.
test.serial('one of many simultaneous sends succeeds, even with few connections', async (t) => {
	const { call, create, contacts, query } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	const answers = await Promise.all(Array.from({ length: 30 }, () => call('POST', `/${id}/send`)))
	const refused = answers.filter(({ statusCode }) => statusCode === 400)
	t.is(refused.length, 29)
	t.is((await query('select from outbox')).length, 1)
})

test('each status allows its own moves and no others', async (t) => {
	const { call, create, contacts, get, query } = await openCampaigns(t)
	await contacts(1)
	const ways: Record<string, [path: string, payload?: object][]> = {
		DRAFT: [],
		SCHEDULED: [['send', { scheduledFor: '2099-01-01' }]],
		SENDING: [['send']],
		PAUSED: [['send'], ['pause']],
		CANCELLED: [['send'], ['cancel']],
		SENT: [['send']],
	}
	const allowed: Record<string, string[]> = {
		DRAFT: ['put', 'send'],
		SCHEDULED: ['put', 'send', 'cancel'],
		SENDING: ['cancel', 'pause'],
		PAUSED: ['cancel', 'resume'],
		CANCELLED: [],
		SENT: [],
	}
	for (const [status, way] of Object.entries(ways))
		for (const move of ['put', 'send', 'cancel', 'pause', 'resume']) {
			const { id } = await create()
			for (const [path, payload] of way)
				t.is((await call('POST', `/${id}/${path}`, payload)).statusCode, 200)
			if (status === 'SENT') await query(`update campaigns set status = 'SENT' where id = $1`, [id])
			const before = await get(id)
			const answer =
				move === 'put'
					? await call('PUT', `/${id}`, { name: 'New' })
					: await call('POST', `/${id}/${move}`)
			if (allowed[status]!.includes(move)) t.is(answer.statusCode, 200, `${status} ${move}`)
			else {
				isEnvelope(t, answer, 400, 'BAD_REQUEST')
				t.deepEqual(await get(id), before)
			}
		}
})

test('pause and resume are seen in the record', async (t) => {
	const { call, contacts, started } = await openCampaigns(t)
	await contacts(1)
	const id = await started()
	const paused = (await call('POST', `/${id}/pause`)).json()
	t.like(paused, { id, status: 'SENDING', pausedReason: 'OWNER' })
	t.true(Math.abs(Date.now() - Date.parse(paused.pausedAt)) < 60_000)
	const again = isEnvelope(t, await call('POST', `/${id}/pause`), 400, 'BAD_REQUEST')
	t.is(again.message, 'A campaign that is SENDING and paused cannot be paused')
	const sent = isEnvelope(t, await call('POST', `/${id}/send`), 400, 'BAD_REQUEST')
	t.regex(sent.suggestion!, /resume/)
	t.true((await call('GET', `/${id}/progress`)).json().paused)
	t.like((await call('POST', `/${id}/resume`)).json(), {
		status: 'SENDING',
		pausedAt: null,
		pausedReason: null,
	})
	t.false((await call('GET', `/${id}/progress`)).json().paused)
	await call('POST', `/${id}/pause`)
	const cancelled = (await call('POST', `/${id}/cancel`)).json()
	t.like(cancelled, { status: 'CANCELLED', pausedAt: null, cancelledReason: 'OWNER' })
})

test('while it is scheduled its audience can change, and is counted again', async (t) => {
	const { call, create, contacts } = await openCampaigns(t)
	await contacts(2, { data: { plan: 'pro' } }, 'pro')
	await contacts(3, {}, 'free')
	const { id } = await create()
	await call('POST', `/${id}/send`, { scheduledFor: '2099-01-01' })
	const audience = { audienceType: 'FILTERED', audienceCondition: plan('pro') }
	t.like((await call('PUT', `/${id}`, audience)).json(), {
		status: 'SCHEDULED',
		totalRecipients: 2,
	})
})

test('records that a campaign still needs can’t be deleted, and are reported as used', async (t) => {
	const { call, create, contacts, request, query } = await openCampaigns(t)
	await contacts(1, { data: { plan: 'pro' } })
	const template = (
		await request('POST', '/templates', { ...whole, name: 'T', type: 'MARKETING' })
	).json()
	const segment = (await request('POST', '/segments', { name: 'S', type: 'STATIC' })).json()
	const named = (await request('POST', '/segments', { name: 'N', type: 'STATIC' })).json()
	await request('POST', `/segments/${segment.id}/members`, { emails: ['user0@example.net'] })
	await request('POST', '/events/track', { name: 'plan.up' })
	const condition = {
		logic: 'OR',
		groups: [
			{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] },
			{ filters: [{ field: 'event.plan.up', operator: 'triggered' }] },
			{ filters: [{ field: `segment.${named.id}`, operator: 'memberOfSegment' }] },
		],
	}
	const { id: one } = await create({
		name: 'One',
		template: template.id,
		audienceType: 'SEGMENT',
		segmentId: segment.id,
	})
	const { id: two } = await create({
		name: 'Two',
		audienceType: 'FILTERED',
		audienceCondition: condition,
	})
	const deletions = [
		`/templates/${template.id}`,
		`/segments/${segment.id}`,
		`/segments/${named.id}`,
		'/contacts/fields/plan',
		'/events/plan.up',
	]
	const isKept = async () => {
		for (const url of deletions) {
			const { details } = isEnvelope(t, await request('DELETE', url), 409, 'CONFLICT')
			t.regex(
				JSON.stringify(details),
				url.includes('templates') || url.includes(segment.id) ? /One/ : /Two/,
			)
		}
	}
	const usage = async (url: string) => (await request('GET', `${url}/usage`)).json()
	await isKept()
	t.like(await usage(`/templates/${template.id}`), {
		campaigns: [{ id: one, name: 'One', status: 'DRAFT' }],
	})
	t.like(await usage('/contacts/fields/plan'), {
		usedInCampaigns: [{ id: two, name: 'Two' }],
		canDelete: false,
	})
	t.like(await usage('/events/plan.up'), { canDelete: false })
	for (const id of [one, two]) await call('POST', `/${id}/send`)
	await isKept()
	for (const id of [one, two]) await call('POST', `/${id}/cancel`)
	t.like(await usage(`/templates/${template.id}`), { campaigns: [{ status: 'CANCELLED' }] })
	t.like(await usage('/contacts/fields/plan'), { usedInCampaigns: [], canDelete: true })
	for (const url of deletions) t.true((await request('DELETE', url)).statusCode < 300, url)
	t.like(
		(await query('select template_id, segment_id from campaigns where name = $1', ['One']))[0]!,
		{ template_id: null, segment_id: null },
	)
})

test('with If-Match only the version that was read is changed or sent', async (t) => {
	const { request, create, contacts, get, withSecretKey } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	const { updatedAt: old } = await get(id)
	await request('PUT', `/campaigns/${id}`, { subject: 'Other' })
	const { updatedAt } = await get(id)
	const ask = async (method: 'PUT' | 'POST', path: string, version: string) =>
		request(method, `/campaigns/${id}${path}`, {}, { ...withSecretKey, 'if-match': version })
	for (const version of [`"${old}"`, updatedAt, '"x"']) {
		isEnvelope(t, await ask('PUT', '', version), 409, 'CONFLICT')
		isEnvelope(t, await ask('POST', '/send', version), 409, 'CONFLICT')
	}
	t.is((await get(id)).status, 'DRAFT')
	t.is((await ask('PUT', '', '*')).statusCode, 200)
	const { updatedAt: latest } = await get(id)
	t.is((await ask('POST', '/send', `"${latest}"`)).statusCode, 200)
})
