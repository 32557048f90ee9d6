import test from 'ava'
import { freezeChunk } from '../db/campaigns/audience-pages.ts'
import { inSegment, openCampaigns, plan } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'

/** One more than a chunk reads. */
const people = 20_001
const nobody = { condition: plan('none') }

const filtered = (id: string) => ({ audienceType: 'FILTERED', audienceCondition: inSegment(id) })

test('an edit of a segment after the start changes nothing of the audience', async (t) => {
	const { pool, project, contacts, create, call, act, activities, request, states } =
		await openCampaigns(t)
	await contacts(people, { data: { plan: 'pro' } })
	const segment = async (condition: object, trackMembership = false) => {
		const answer = await request('POST', '/segments', { name: 'S', condition, trackMembership })
		return answer.json().id as string
	}
	const edit = async (id: string, changes: object) =>
		t.is((await request('PATCH', `/segments/${id}`, changes)).statusCode, 200)
	const compute = async (id: string) =>
		t.is((await request('POST', `/segments/${id}/compute`)).statusCode, 200)

	/** Checks that the audience stays the same if `work` runs after this many chunks. */
	const stays = async (audience: object, chunks: number, work: () => Promise<unknown>) => {
		const { id } = await create(audience)
		t.is((await call('POST', `/${id}/send`)).statusCode, 200)
		t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
		for (let chunk = 0; chunk < chunks; chunk++)
			t.true(await freezeChunk(pool, project.id, id, 20_000))
		await work()
		await act(activities.materialiseCampaign, id)
		return states(id)
	}
	const all = { 'TO COME': people }

	const early = await segment(plan('pro'))
	const audience = { audienceType: 'SEGMENT', segmentId: early }
	t.deepEqual(await stays(audience, 0, () => edit(early, nobody)), all, 'before the first chunk')
	await edit(early, { condition: plan('pro') })
	t.deepEqual(await stays(audience, 1, () => edit(early, nobody)), all, 'its own segment')

	const inner = await segment(plan('pro'))
	const outer = await segment(inSegment(inner))
	t.deepEqual(await stays(filtered(outer), 1, () => edit(inner, nobody)), all, 'one within')

	const live = await segment(plan('pro'))
	const track = async () => {
		await edit(live, { ...nobody, trackMembership: true })
		await compute(live)
	}
	t.deepEqual(await stays(filtered(live), 1, track), all, 'tracked from now on')

	const tracked = await segment(plan('pro'), true)
	await compute(tracked)
	const empty = async () => {
		await edit(tracked, nobody)
		await compute(tracked)
	}
	t.deepEqual(await stays(filtered(tracked), 1, empty), all, 'its members are others')
})

test('the stored members of a tracked segment are its members until it is edited', async (t) => {
	const { contacts, create, call, act, activities, request, recipients } = await openCampaigns(t)
	await contacts(2, { data: { plan: 'pro' } })
	const made = { name: 'S', condition: plan('pro'), trackMembership: true }
	const { id: segmentId } = (await request('POST', '/segments', made)).json()
	await request('POST', `/segments/${segmentId}/compute`)
	await contacts(1, { data: { plan: 'pro' } }, 'late')
	const { id } = await create(filtered(segmentId))
	await call('POST', `/${id}/send`)
	await act(activities.materialiseCampaign, id)
	t.deepEqual(await recipients(id), ['user0@example.net', 'user1@example.net'])
})

test('a segment that excludes recipients cannot be deleted before all recipients are created', async (t) => {
	const { contacts, create, call, act, activities, request, recipients } = await openCampaigns(t)
	await contacts(1, {}, 'vip')
	await contacts(1, {}, 'other')
	const made = async (segment: object) =>
		(await request('POST', '/segments', { name: 'S', ...segment })).json().id as string
	const vips = await made({ type: 'STATIC' })
	await request('POST', `/segments/${vips}/members`, { emails: ['vip0@example.net'] })
	const filters = [{ field: `segment.${vips}`, operator: 'notMemberOfSegment' }]
	const others = await made({ condition: { logic: 'AND', groups: [{ filters }] } })
	const { id } = await create({ audienceType: 'SEGMENT', segmentId: others })
	t.is((await call('POST', `/${id}/send`)).statusCode, 200)
	t.is((await request('PATCH', `/segments/${others}`, nobody)).statusCode, 200)
	const remove = () => request('DELETE', `/segments/${vips}`)
	const refused = await remove()
	t.is(refused.statusCode, 409)
	t.regex(refused.body, new RegExp(id))
	await act(activities.materialiseCampaign, id)
	t.deepEqual(await recipients(id), ['other0@example.net'])
	t.is((await remove()).statusCode, 204)
})

test('a copy of a campaign whose segment was deleted says so, and takes another audience', async (t) => {
	const { contacts, create, call, request, query } = await openCampaigns(t)
	await contacts(1)
	const { id: segmentId } = (await request('POST', '/segments', { name: 'S', ...nobody })).json()
	const { id } = await create({ audienceType: 'SEGMENT', segmentId })
	await query(`update campaigns set status = 'SENT' where id = $1`, [id])
	t.is((await request('DELETE', `/segments/${segmentId}`)).statusCode, 204)
	const copy = (await call('POST', `/${id}/duplicate`)).json().id as string
	const refused = isEnvelope(t, await call('POST', `/${copy}/send`), 404, 'RESOURCE_NOT_FOUND')
	t.is(refused.message, 'The segment of this campaign was deleted')
	t.is((await call('PUT', `/${copy}`, { audienceType: 'ALL' })).statusCode, 200)
	t.is((await call('POST', `/${copy}/send`)).statusCode, 200)
})

test('a scheduled campaign takes its segment as it is when its time has come', async (t) => {
	const { contacts, create, call, act, activities, query, request, recipients } =
		await openCampaigns(t)
	await contacts(1, { data: { plan: 'pro' } }, 'pro')
	await contacts(1, { data: { plan: 'free' } }, 'free')
	const made = await request('POST', '/segments', { name: 'S', condition: plan('pro') })
	const segmentId = made.json().id
	const edit = (condition: object) => request('PATCH', `/segments/${segmentId}`, { condition })
	const { id } = await create({ audienceType: 'SEGMENT', segmentId })
	await call('POST', `/${id}/send`, { scheduledFor: '2099-01-01' })
	await edit(plan('free'))
	await query('update campaigns set scheduled_for = now()')
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
	await edit(plan('none'))
	await act(activities.materialiseCampaign, id)
	t.deepEqual(await recipients(id), ['free0@example.net'])
})

test('a campaign that started before audiences were stored continues with its segment', async (t) => {
	const { contacts, create, call, act, activities, query, request, recipients } =
		await openCampaigns(t)
	await contacts(1, { data: { plan: 'pro' } })
	await contacts(1, {}, 'other')
	const made = await request('POST', '/segments', { name: 'S', condition: plan('pro') })
	const { id } = await create({ audienceType: 'SEGMENT', segmentId: made.json().id })
	await call('POST', `/${id}/send`)
	await query('update campaigns set frozen_audience = null')
	await act(activities.materialiseCampaign, id)
	t.deepEqual(await recipients(id), ['user0@example.net'])
})
