import test from 'ava'
import { openCampaigns, plan, whole } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { lockWaits } from './helpers/locks.ts'

const unknown = '01a1fe06-34a2-73c1-89d1-74afe08bc011'

test('a change replaces the given members, null clears, and the rest stays', async (t) => {
	const { call, create } = await openCampaigns(t)
	const { id } = await create({ description: 'D', fromName: 'N', replyTo: 'r@example.com' })
	const before = (await call('GET', `/${id}`)).json()
	const changed = (await call('PUT', `/${id}`, { subject: 'New', fromName: null })).json()
	const { updatedAt, ...rest } = changed
	t.deepEqual(rest, { ...without(before, 'updatedAt'), subject: 'New', fromName: null })
	t.true(updatedAt >= before.updatedAt)
	for (const [payload, field] of [
		[{ subject: '' }, 'subject'],
		[{ name: null }, 'name'],
		[{ audienceType: 'FILTERED' }, 'audienceCondition'],
		[{ body: '{% nothing %}' }, 'body'],
	] as const)
		t.is(
			isEnvelope(t, await call('PUT', `/${id}`, payload), 422, 'VALIDATION_ERROR').errors[0].field,
			field,
		)
	t.deepEqual((await call('GET', `/${id}`)).json(), changed)
})

test('a time is given when a campaign is sent: elsewhere another one is refused', async (t) => {
	const { call, create } = await openCampaigns(t)
	const refused = async (method: 'POST' | 'PUT', path: string, payload: object) => {
		const { errors } = isEnvelope(t, await call(method, path, payload), 422, 'VALIDATION_ERROR')
		t.like(errors[0], { field: 'scheduledFor', code: 'unrecognized_keys' })
	}
	const scheduledFor = '2034-01-01T10:00:00.000Z'
	const { id } = await create()
	await refused('PUT', `/${id}`, { scheduledFor })
	await call('POST', `/${id}/send`, { scheduledFor })
	await refused('PUT', `/${id}`, { scheduledFor: '2035-01-01T10:00:00.000Z' })
	const stored = (await call('GET', `/${id}`)).json()
	t.is(stored.scheduledFor, scheduledFor)
	await refused('POST', '', stored)
	const kept = await call('PUT', `/${id}`, { ...stored, name: 'Mine', templateId: 5 })
	t.like(kept.json(), { name: 'Mine', scheduledFor })
	t.is((await call('POST', '', { ...stored, scheduledFor: null })).statusCode, 201)
})

test('a copy is a draft of the same content with a name of its own', async (t) => {
	const { call, create, contacts, request } = await openCampaigns(t)
	await contacts(2)
	const { id } = await create({
		name: 'x'.repeat(100),
		audienceType: 'FILTERED',
		audienceCondition: plan('pro'),
	})
	const original = (await call('GET', `/${id}`)).json()
	const answer = await call('POST', `/${id}/duplicate`)
	t.is(answer.statusCode, 201)
	const copy = answer.json()
	t.not(copy.id, id)
	const own = ['id', 'name', 'createdAt', 'updatedAt'] as const
	t.deepEqual(without(copy, ...own), without(original, ...own))
	t.is(copy.name, `${'x'.repeat(93)} (Copy)`)

	const segment = (await request('POST', '/segments', { name: 'S', type: 'STATIC' })).json()
	const old = await create({
		audienceType: 'SEGMENT',
		segmentId: segment.id,
		type: 'TRANSACTIONAL',
	})
	await request('POST', `/segments/${segment.id}/members`, { emails: ['user0@example.net'] })
	await call('POST', `/${old.id}/send`)
	await call('POST', `/${old.id}/cancel`)
	t.is((await request('DELETE', `/segments/${segment.id}`)).statusCode, 204)
	t.like((await call('POST', `/${old.id}/duplicate`)).json(), {
		segmentId: null,
		status: 'DRAFT',
		totalRecipients: 0,
	})
})

test('a copy of a name in any script keeps its characters whole', async (t) => {
	const { call, create } = await openCampaigns(t)
	const { id } = await create({ name: '😀'.repeat(100) })
	const answer = await call('POST', `/${id}/duplicate`)
	t.is(answer.statusCode, 201)
	t.is(answer.json().name, `${'😀'.repeat(93)} (Copy)`)
})

for (const [reference, sql] of [
	['template', 'delete from templates'],
	['segment', 'delete from segments'],
] as const)
	test(`a campaign can be copied while its ${reference} is being deleted`, async (t) => {
		const { call, create, request, pool, query } = await openCampaigns(t)
		const { name, subject, body, from } = whole
		const template = (await request('POST', '/templates', { name, subject, body, from })).json()
		const segment = (await request('POST', '/segments', { name, type: 'STATIC' })).json()
		const audience = { audienceType: 'SEGMENT', segmentId: segment.id }
		const { id } = await create({ template: template.id, ...audience })
		const other = await pool.connect()
		t.teardown(() => other.release())
		await other.query(`begin; ${sql}`)
		const copying = call('POST', `/${id}/duplicate`)
		await lockWaits(t, pool, 1)
		await other.query('commit')
		const answer = await copying
		t.is(answer.statusCode, 201, answer.body)
		t.like(answer.json(), {
			templateId: reference === 'template' ? null : template.id,
			segmentId: reference === 'segment' ? null : segment.id,
		})
		t.is((await query('select from campaigns')).length, 2)
	})

test('only drafts and ended campaigns can be deleted, and their mails stay in the ledger', async (t) => {
	const { call, create, contacts, started, states, activities, act } = await openCampaigns(t)
	await contacts(2)
	const { id } = await create()
	const answer = await call('DELETE', `/${id}`)
	t.is(answer.statusCode, 204)
	t.is(answer.body, '')
	isEnvelope(t, await call('DELETE', `/${id}`), 404, 'CAMPAIGN_NOT_FOUND')

	const later = (await create()).id
	await call('POST', `/${later}/send`, { scheduledFor: '2099-01-01' })
	t.is(
		isEnvelope(t, await call('DELETE', `/${later}`), 409, 'CONFLICT').details.status,
		'SCHEDULED',
	)
	const sending = await started()
	t.is(
		isEnvelope(t, await call('DELETE', `/${sending}`), 409, 'CONFLICT').details.status,
		'SENDING',
	)
	await call('POST', `/${sending}/cancel`)
	await act(activities.cancelRecipients, sending)
	t.is((await call('DELETE', `/${sending}`)).statusCode, 204)
	for (const path of ['', '/stats', '/progress', '/recipients'])
		isEnvelope(t, await call('GET', `/${sending}${path}`), 404, 'CAMPAIGN_NOT_FOUND')
	t.is((await call('GET', '')).json().total, 1)
	t.deepEqual(await states(sending), { CANCELLED: 2 })
})

test('a campaign of another project, an unknown one and no id at all are not found', async (t) => {
	const { call, create, otherProject } = await openCampaigns(t)
	const { id } = await create()
	const { withSecretKey } = await otherProject()
	const routes = [
		['GET', ''],
		['PUT', ''],
		['DELETE', ''],
		['GET', '/stats'],
		['GET', '/progress'],
		['GET', '/recipients'],
		['POST', '/duplicate'],
		['POST', '/send'],
		['POST', '/cancel'],
		['POST', '/pause'],
		['POST', '/resume'],
		['POST', '/test'],
	] as const
	for (const [method, path] of routes) {
		const body = path === '/test' ? { email: 'a@example.com' } : {}
		const payload = method === 'GET' || method === 'DELETE' ? undefined : body
		isEnvelope(
			t,
			await call(method, `/${id}${path}`, payload, withSecretKey),
			404,
			'CAMPAIGN_NOT_FOUND',
		)
		isEnvelope(t, await call(method, `/${unknown}${path}`, payload), 404, 'CAMPAIGN_NOT_FOUND')
		const answer = await call(method, `/nothing${path}`, payload)
		if (path === '/send') isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
		else isEnvelope(t, answer, 404, 'CAMPAIGN_NOT_FOUND')
	}
	t.like((await call('GET', `/${id}`)).json(), { status: 'DRAFT', name: 'Spring' })
})

test('campaigns answer the secret key only, and a disabled project is read only', async (t) => {
	const { call, create, withPublicKey, pool } = await openCampaigns(t)
	const { id } = await create()
	for (const headers of [withPublicKey, {}])
		isEnvelope(t, await call('GET', '', undefined, headers), 401, 'INVALID_API_KEY')
	await pool.query(`update projects set disabled_reason = 'MANUAL'`)
	t.is((await call('GET', `/${id}/progress`)).statusCode, 200)
	for (const path of ['', `/${id}/send`, `/${id}/duplicate`])
		isEnvelope(t, await call('POST', path, whole), 403, 'PROJECT_DISABLED')
})

function without<T extends object>(record: T, ...keys: string[]) {
	return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))
}
