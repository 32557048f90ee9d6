import test from 'ava'
import { inSegment, openCampaigns, plan, whole } from './helpers/campaigns.ts'
import { isEnvelope, uuid } from './helpers/envelope.ts'

const unknown = '01a1fe06-34a2-73c1-89d1-74afe08bc011'

test('a campaign begins as a draft with all its fields', async (t) => {
	const { call, contacts, project } = await openCampaigns(t)
	await contacts(3)
	const answer = await call('POST', '', { ...whole, from: ' News@Example.com ', extra: 1 })
	t.is(answer.statusCode, 201)
	const { success, data } = answer.json()
	t.true(success)
	const { id, createdAt, updatedAt, ...rest } = data
	t.regex(id, uuid)
	t.is(createdAt, updatedAt)
	t.deepEqual(rest, {
		...whole,
		description: null,
		fromName: null,
		replyTo: null,
		type: 'MARKETING',
		language: null,
		templateId: null,
		status: 'DRAFT',
		audienceCondition: null,
		segmentId: null,
		scheduledFor: null,
		totalRecipients: 3,
		sentCount: 0,
		deliveredCount: 0,
		openedCount: 0,
		clickedCount: 0,
		bouncedCount: 0,
		complainedCount: 0,
		unsubscribedCount: 0,
		failedCount: 0,
		pausedAt: null,
		pausedReason: null,
		cancelledReason: null,
		projectId: project.id,
		sentAt: null,
	})
	t.deepEqual((await call('GET', `/${id}`)).json(), data)
})

test('faults of a campaign are reported field by field', async (t) => {
	const { app, call, withSecretKey } = await openCampaigns(t)
	const badCondition = { logic: 'AND', groups: [{ filters: [{ field: 'x', operator: 'equals' }] }] }
	const faults: [changes: object, ...errors: string[]][] = [
		[
			{
				name: undefined,
				subject: undefined,
				body: undefined,
				from: undefined,
				audienceType: undefined,
			},
			'name: required',
			'audienceType: required',
			'subject: required',
			'body: required',
			'from: required',
		],
		[{ name: '' }, 'name: too_small'],
		[{ name: 'x'.repeat(101) }, 'name: too_big'],
		[{ name: 5 }, 'name: invalid_type'],
		[{ description: 'x'.repeat(501) }, 'description: too_big'],
		[{ subject: 'two\nlines' }, 'subject: invalid_string'],
		[{ subject: 'x'.repeat(999) }, 'subject: too_big'],
		[{ subject: null }, 'subject: invalid_type'],
		[{ subject: '{% if %}' }, 'subject: template_syntax'],
		[{ body: '{{ unclosed' }, 'body: template_syntax'],
		[{ body: '' }, 'body: too_small'],
		[{ from: 'nobody' }, 'from: invalid_string'],
		[{ fromName: 'a\rb' }, 'fromName: invalid_string'],
		[{ replyTo: 'nobody' }, 'replyTo: invalid_string'],
		[{ type: 'OTHER' }, 'type: invalid_enum_value'],
		[{ audienceType: 'SOME' }, 'audienceType: invalid_enum_value'],
		[{ audienceType: 'SEGMENT' }, 'segmentId: required'],
		[{ audienceType: 'SEGMENT', segmentId: null }, 'segmentId: required'],
		[{ audienceType: 'SEGMENT', segmentId: 'x' }, 'segmentId: invalid_string'],
		[{ audienceType: 'FILTERED' }, 'audienceCondition: required'],
		[{ audienceType: 'FILTERED', audienceCondition: 'x' }, 'audienceCondition: invalid_type'],
		...[false, 0, '', []].map((audienceCondition): [object, string] => [
			{ audienceType: 'FILTERED', audienceCondition },
			'audienceCondition: invalid_type',
		]),
		[{ audienceCondition: false }, 'audienceCondition: invalid_type'],
		[{ audienceType: 'FILTERED', audienceCondition: null }, 'audienceCondition: required'],
		[
			{ audienceType: 'FILTERED', audienceCondition: badCondition },
			'audienceCondition.groups.0.filters.0.field: invalid_enum_value',
		],
		[
			{ audienceType: 'FILTERED', audienceCondition: inSegment(unknown) },
			'audienceCondition.groups.0.filters.0.field: custom',
		],
		[{ template: 'x' }, 'template: invalid_string'],
	]
	for (const [changes, ...errors] of faults) {
		const answer = await call('POST', '', { ...whole, ...changes })
		const error = isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
		const found = error.errors.map(
			({ field, code }: { field: string; code: string }) => `${field}: ${code}`,
		)
		t.deepEqual(found.toSorted(), errors.toSorted(), JSON.stringify(changes))
	}
	for (const body of ['[]', 'null', '"x"', '5']) {
		const answer = await app.inject({
			method: 'POST',
			url: '/campaigns',
			headers: { ...withSecretKey, 'content-type': 'application/json' },
			payload: body,
		})
		isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
	}
	t.is((await call('GET', '')).json().total, 0)
})

test('a sender needs a verified domain, at creation and when it changes', async (t) => {
	const { call, create, verify, project } = await openCampaigns(t)
	await verify(project.id, 'pending.example', null)
	for (const from of ['a@elsewhere.example', 'a@pending.example', 'a@mail.example.com'])
		isEnvelope(t, await call('POST', '', { ...whole, from }), 403, 'INTERNAL_SERVER_ERROR')
	const { id } = await create()
	const changed = await call('PUT', `/${id}`, { from: 'a@pending.example' })
	isEnvelope(t, changed, 403, 'INTERNAL_SERVER_ERROR')
})

test('a template fills in what the campaign does not set, and is recorded', async (t) => {
	const { call, request, otherProject } = await openCampaigns(t)
	const template = (
		await request('POST', '/templates', {
			name: 'Base',
			subject: 'From the template',
			body: '<p>Template</p>',
			from: 'team@example.com',
			fromName: 'Team',
			replyTo: 'reply@example.com',
			type: 'HEADLESS',
		})
	).json()
	const given = { name: 'Mine', audienceType: 'ALL', template: template.id }
	const taken = {
		subject: 'From the template',
		body: '<p>Template</p>',
		from: 'team@example.com',
		fromName: 'Team',
		replyTo: 'reply@example.com',
		type: 'HEADLESS',
		templateId: template.id,
	}
	t.like((await call('POST', '', given)).json().data, taken)
	const overridden = { subject: 'My own', fromName: null, type: 'TRANSACTIONAL' }
	const { data } = (await call('POST', '', { ...given, ...overridden })).json()
	t.like(data, { ...taken, ...overridden })
	const cleared = (await call('PUT', `/${data.id}`, { template: null })).json()
	t.like(cleared, { subject: 'My own', templateId: null })
	t.like((await call('PUT', `/${data.id}`, { template: template.id })).json(), taken)

	const { withSecretKey } = await otherProject()
	for (const [id, headers] of [[unknown], [template.id, withSecretKey]] as const) {
		const answer = await call('POST', '', { ...given, template: id }, headers)
		isEnvelope(t, answer, 404, 'TEMPLATE_NOT_FOUND')
	}
})

test('recipients are the members of the audience who accept such mail and can receive it', async (t) => {
	const { contacts, create, request, call, pool, project } = await openCampaigns(t)
	await contacts(4, { data: { plan: 'pro' } }, 'pro')
	await contacts(3, {}, 'free')
	await contacts(2, { data: { plan: 'pro' }, subscribed: false }, 'gone')
	await pool.query(
		`insert into suppressions (project_id, email, reason) values ($1, 'pro0@example.net', 'BOUNCE')`,
		[project.id],
	)
	const segment = async (body: object) =>
		(await request('POST', '/segments', { name: 'S', ...body })).json().id as string
	const dynamic = await segment({ condition: plan('pro') })
	// It has no stored members, because no compute has run yet.
	const tracked = await segment({ condition: plan('pro'), trackMembership: true })
	const stored = await segment({ type: 'STATIC' })
	await request('POST', `/segments/${stored}/members`, {
		emails: ['free0@example.net', 'gone0@example.net'],
	})
	const filtered = { audienceType: 'FILTERED', audienceCondition: plan('pro') }
	const counts: [audience: object, marketing: number, transactional: number][] = [
		[{ audienceType: 'ALL' }, 6, 8],
		[filtered, 3, 5],
		[{ audienceType: 'FILTERED', audienceCondition: inSegment(stored) }, 1, 2],
		[{ audienceType: 'SEGMENT', segmentId: dynamic }, 3, 5],
		[{ audienceType: 'SEGMENT', segmentId: tracked }, 3, 5],
		[{ audienceType: 'SEGMENT', segmentId: stored }, 1, 2],
	]
	for (const [audience, marketing, transactional] of counts) {
		t.is((await create(audience)).totalRecipients, marketing)
		t.is((await create({ ...audience, type: 'HEADLESS' })).totalRecipients, marketing)
		t.is((await create({ ...audience, type: 'TRANSACTIONAL' })).totalRecipients, transactional)
	}
	const { id } = await create()
	t.is((await call('PUT', `/${id}`, filtered)).json().totalRecipients, 3)
	t.is((await call('PUT', `/${id}`, { type: 'TRANSACTIONAL' })).json().totalRecipients, 5)
})

test('a segment that is unknown or of another project is not found', async (t) => {
	const { call, create, request, otherProject } = await openCampaigns(t)
	const { withSecretKey } = await otherProject()
	const theirs = (
		await request('POST', '/segments', { name: 'T', type: 'STATIC' }, withSecretKey)
	).json()
	const { id } = await create()
	for (const segmentId of [unknown, theirs.id]) {
		const audience = { audienceType: 'SEGMENT', segmentId }
		isEnvelope(t, await call('POST', '', { ...whole, ...audience }), 404, 'RESOURCE_NOT_FOUND')
		isEnvelope(t, await call('PUT', `/${id}`, audience), 404, 'RESOURCE_NOT_FOUND')
	}
})

test('campaigns are listed by page, status, search and order', async (t) => {
	const { call, create, contacts, otherProject } = await openCampaigns(t)
	await contacts(1)
	const names = ['Beta', 'alpha 100%', 'Gamma']
	for (const name of names) await create({ name, subject: `About ${name}` })
	const list = async (query: string) => {
		const { data, ...rest } = (await call('GET', `?${query}`)).json()
		return { names: data.map(({ name }: { name: string }) => name), ...rest }
	}
	t.deepEqual(await list(''), {
		names: ['Gamma', 'alpha 100%', 'Beta'],
		page: 1,
		pageSize: 20,
		total: 3,
		totalPages: 1,
	})
	t.deepEqual(await list('pageSize=2&page=2'), {
		names: ['Beta'],
		page: 2,
		pageSize: 2,
		total: 3,
		totalPages: 2,
	})
	t.like(await list('pageSize=1000'), { pageSize: 100 })
	t.deepEqual((await list('sort=name&dir=asc')).names, ['Beta', 'Gamma', 'alpha 100%'])
	t.deepEqual((await list('sort=nothing')).names, ['Gamma', 'alpha 100%', 'Beta'])
	t.deepEqual((await list('search=ALPHA')).names, ['alpha 100%'])
	t.deepEqual((await list('search=0%25')).names, ['alpha 100%'])
	t.deepEqual((await list('search=about')).total, 3)
	t.deepEqual((await list('search=NEWS@')).total, 3)
	t.deepEqual((await list('search=_')).total, 0)
	t.is((await list('status=DRAFT')).total, 3)
	t.is((await list('status=SENT')).total, 0)
	for (const query of ['status=draft', 'status=', 'page=0', 'pageSize=0', 'page=x', 'dir=up'])
		isEnvelope(t, await call('GET', `?${query}`), 400, 'BAD_REQUEST')
	const { withSecretKey } = await otherProject()
	t.is((await call('GET', '', undefined, withSecretKey)).json().total, 0)
})
