import { createHash } from 'node:crypto'
import test from 'ava'
import { createSigner } from '../api/accounts/signer.ts'
import { startApp } from './helpers/app.ts'
import { inSegment, plan, whole } from './helpers/campaigns.ts'
import { lockWaits } from './helpers/locks.ts'
import { openMcp } from './helpers/mcp.ts'
import { fillForSlowCount } from './helpers/slow-count.ts'

const letter = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' }
const people = (count: number) => Array.from({ length: count }, (_, n) => `person${n}@example.org`)

test('a campaign is sent only by the second call, with the token of its preview', async (t) => {
	const { done, create, contacts, get } = await openMcp(t)
	await contacts(3)
	const { id: campaignId } = await create({ fromName: 'The shop' })
	const { text, data } = await done('send_campaign', { campaignId })
	t.regex(text, /^Nothing has been sent\. This campaign would go to 3 contacts\./)
	t.like(data.preview, {
		sends: 'at once',
		recipients: 3,
		sender: { from: 'news@example.com', fromName: 'The shop' },
		subject: 'Hello {{ name }}',
		audience: { audienceType: 'ALL' },
	})
	const minutes = (Date.parse(data.confirmBefore) - Date.now()) / 60_000
	t.true(minutes > 9 && minutes <= 10)
	t.is((await get(campaignId)).status, 'DRAFT')
	const { confirmToken } = data
	t.is(
		(await done('send_campaign', { campaignId, confirmToken })).text,
		'The campaign is being sent.',
	)
	t.is((await get(campaignId)).status, 'SENDING')
})

test('a token sends once: the second time meets the state of the campaign', async (t) => {
	const { done, refused, create, contacts } = await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	const { confirmToken } = (await done('send_campaign', { campaignId })).data
	await done('send_campaign', { campaignId, confirmToken })
	t.like(await refused('send_campaign', { campaignId, confirmToken }), {
		message: 'A campaign that is SENDING cannot be sent',
		suggestion: 'It is on its way. A copy would go to all its recipients once more.',
	})
})

test('any process takes the token of another', async (t) => {
	const { done, create, contacts, orm, connect, callWith, withSecretKey, get } = await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	const { confirmToken } = (await done('send_campaign', { campaignId })).data
	const { app } = await startApp(t, orm)
	const address = await app.listen({ port: 0, host: '127.0.0.1' })
	const client = await connect(withSecretKey, undefined, `${address}/mcp`)
	await callWith(client, 'send_campaign', { campaignId, confirmToken })
	t.is((await get(campaignId)).status, 'SENDING')
})

test('a campaign is scheduled at the time of the preview, and at no other', async (t) => {
	const { done, refused, create, contacts, get } = await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	const at = { campaignId, scheduledFor: '2099-01-31T09:00:00+01:00' }
	const { data } = await done('send_campaign', at)
	t.is(data.preview.sends, 'at 2099-01-31T08:00:00.000Z')
	const { confirmToken } = data
	for (const other of [{ campaignId }, { campaignId, scheduledFor: '2099-01-31T10:00:00+01:00' }])
		t.is((await refused('send_campaign', { ...other, confirmToken })).code, 'CONFLICT')
	t.is((await get(campaignId)).status, 'DRAFT')
	await done('send_campaign', { ...at, confirmToken })
	t.like(await get(campaignId), {
		status: 'SCHEDULED',
		scheduledFor: '2099-01-31T08:00:00.000Z',
	})
	// It is scheduled now, which the preview did not show.
	t.is((await refused('send_campaign', { ...at, confirmToken })).code, 'CONFLICT')
	const without = { campaignId, scheduledFor: '2099-01-31T09:00:00' }
	t.like(await refused('send_campaign', without), { errors: [{ field: 'scheduledFor' }] })
})

test('a campaign whose content or sender has changed needs a new preview', async (t) => {
	const { done, refused, create, contacts, call, get } = await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	for (const change of [{ subject: 'Other' }, { body: '<p>Other</p>' }, { fromName: 'Other' }]) {
		const { confirmToken } = (await done('send_campaign', { campaignId })).data
		t.is((await call('PUT', `/${campaignId}`, change)).statusCode, 200)
		t.like(await refused('send_campaign', { campaignId, confirmToken }), {
			code: 'CONFLICT',
			message: 'Something has changed since the preview, so nothing was done',
		})
	}
	t.is((await get(campaignId)).status, 'DRAFT')
})

test('a change between the check of a token and the act is noticed', async (t) => {
	const { done, refused, create, contacts, pool, get } = await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	const { confirmToken } = (await done('send_campaign', { campaignId })).data
	const editor = await pool.connect()
	await editor.query('begin')
	await editor.query(`update campaigns set subject = 'Other', updated_at = now() where id = $1`, [
		campaignId,
	])
	// The check sees the old subject, and then the route waits for the editor.
	const refusal = refused('send_campaign', { campaignId, confirmToken })
	await lockWaits(t, pool, 1)
	await editor.query('commit')
	editor.release()
	t.is((await refusal).message, 'This campaign has changed since it was read')
	t.like(await get(campaignId), { status: 'DRAFT', subject: 'Other' })
})

test('a scheduled campaign is not changed without a new preview', async (t) => {
	const { done, refused, create, contacts, get } = await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	const at = { campaignId, scheduledFor: '2099-01-31T09:00:00Z' }
	const { confirmToken } = (await done('send_campaign', at)).data
	await done('send_campaign', { ...at, confirmToken })
	const refusal = await refused('draft_campaign', { campaignId, subject: 'Other' })
	t.like(refusal, {
		code: 'CONFLICT',
		suggestion: 'Cancel it with control_campaign, and draft a new one.',
	})
	t.like(await get(campaignId), { status: 'SCHEDULED', subject: 'Hello {{ name }}' })
})

test('a changed rule of the audience needs a new preview, even in a segment of a segment', async (t) => {
	const { done, refused, request, create, contacts } = await openMcp(t)
	await contacts(1, { data: { plan: 'pro' } })
	const segment = async (condition: object) =>
		(await request('POST', '/segments', { name: 'S', condition })).json().id as string
	const inner = await segment(plan('pro'))
	const outer = await segment(inSegment(inner))
	const { id: campaignId } = await create({ audienceType: 'SEGMENT', segmentId: outer })
	const { data } = await done('send_campaign', { campaignId })
	t.is(data.preview.recipients, 1)
	await request('PATCH', `/segments/${inner}`, { condition: plan('free') })
	const { confirmToken } = data
	t.is((await refused('send_campaign', { campaignId, confirmToken })).code, 'CONFLICT')
})

test('an audience that has grown by more than a tenth needs a new preview', async (t) => {
	const { done, refused, create, contacts } = await openMcp(t)
	await contacts(20)
	const { id: campaignId } = await create()
	const { confirmToken } = (await done('send_campaign', { campaignId })).data
	await contacts(3, {}, 'new')
	t.like(await refused('send_campaign', { campaignId, confirmToken }), {
		message: 'The preview showed 20 recipients, and there are 23 now, so nothing was done',
	})
	const fresh = (await done('send_campaign', { campaignId })).data
	await contacts(2, {}, 'newer')
	await done('send_campaign', { campaignId, confirmToken: fresh.confirmToken })
})

test('a token of another project, act or campaign, a changed one and an old one are refused', async (t) => {
	const { done, refused, create, contacts, connect, callWith, otherProject, query, get, project } =
		await openMcp(t)
	await contacts(1)
	const { id: campaignId } = await create()
	const { confirmToken } = (await done('send_campaign', { campaignId })).data as {
		confirmToken: string
	}
	const other = await otherProject()
	const theirs = await connect(other.withSecretKey)
	await query(
		`insert into contacts (project_id, email, subscribed) values ($1, 'their@example.org', true)`,
		[other.project.id],
	)
	const made = await callWith(theirs, 'draft_campaign', { ...whole, from: 'news@example.org' })
	const theirCampaign = { campaignId: made.data.campaign.id }
	const theirToken = (await callWith(theirs, 'send_campaign', theirCampaign)).data.confirmToken
	t.true((await callWith(theirs, 'send_campaign', { ...theirCampaign, confirmToken })).isError)
	t.is(
		(await callWith(theirs, 'send_campaign', { campaignId })).data.error.code,
		'CAMPAIGN_NOT_FOUND',
	)

	const { id: second } = await create()
	const secondToken = (await done('send_campaign', { campaignId: second })).data.confirmToken
	const ids = { contactIds: ['0199d3f4-7e00-7000-8000-000000000001'] }
	const [contact] = await query<{ id: string }>('select id from contacts where project_id = $1', [
		project.id,
	])
	const deletion = await done('delete_contacts', { contactIds: [contact!.id] })
	const [header, body, signature] = confirmToken.split('.')
	const signer = createSigner<object>('a secret of the tests', 'mcp confirmation')
	const foreign = createSigner<object>('a secret of nobody', 'mcp confirmation')
	const { exp: _, ...value } = JSON.parse(Buffer.from(body!, 'base64url').toString())
	for (const token of [
		theirToken,
		secondToken,
		deletion.data.confirmToken,
		'yes',
		body,
		`${header}.${body}.${createHash('sha256').update(`${header}.${body}`).digest('base64url')}`,
		`${header}.${Buffer.from('{"exp":9999999999}').toString('base64url')}.${signature}`,
		foreign.sign(value, 600),
		signer.sign(value, -1),
	]) {
		const error = await refused('send_campaign', { campaignId, confirmToken: token })
		t.is(error.code, 'CONFLICT', token as string)
	}
	t.is((await refused('delete_contacts', { ...ids, confirmToken })).code, 'CONTACT_NOT_FOUND')
	t.is((await get(campaignId)).status, 'DRAFT')
	await done('send_campaign', { campaignId, confirmToken: signer.sign(value, 600) })
})

test('a mail to more than five people takes a preview, and its token sends once', async (t) => {
	const { done, refused, query, connect, callWith, otherProject } = await openMcp(t)
	const count = async () => (await query('select from emails')).length
	await done('send_mail', { ...letter, to: people(5) })
	t.is(await count(), 5)
	const given = { ...letter, to: people(6) }
	const { text, data } = await done('send_mail', given)
	t.regex(text, /^Nothing has been sent\. This mail would go to 6 people\./)
	t.like(data.preview, { recipients: 6, subject: 'Hello', from: 'hello@example.com' })
	t.is(await count(), 5)
	const { confirmToken } = data
	for (const change of [{ to: people(7) }, { subject: 'Other' }, { idempotencyKey: 'x' }])
		t.is((await refused('send_mail', { ...given, ...change, confirmToken })).code, 'CONFLICT')
	// The same mail, shown to another project.
	const theirs = await connect((await otherProject()).withSecretKey)
	const theirToken = (await callWith(theirs, 'send_mail', given)).data.confirmToken
	t.is((await refused('send_mail', { ...given, confirmToken: theirToken })).code, 'CONFLICT')
	t.is(await count(), 5)
	const first = await done('send_mail', { ...given, confirmToken })
	t.is(await count(), 11)
	const second = await done('send_mail', { ...given, confirmToken })
	t.true(second.data.isRepeat)
	t.deepEqual(second.data.emails, first.data.emails)
	t.is(await count(), 11)
})

test('a mail from a template is shown as the template is, and is not sent once that has changed', async (t) => {
	const { done, refused, request, query } = await openMcp(t)
	const template = { name: 'News', type: 'TRANSACTIONAL', ...letter }
	const { id } = (await request('POST', '/templates', template)).json()
	const given = { to: people(6), template: id }
	const { data } = await done('send_mail', given)
	t.like(data.preview, { ...letter, recipients: 6, template: id })
	await request('PATCH', `/templates/${id}`, { subject: 'Other' })
	const { confirmToken } = data
	t.is((await refused('send_mail', { ...given, confirmToken })).code, 'CONFLICT')
	t.is((await query('select from emails')).length, 0)
})

test('contacts are deleted only by the second call, and only if their number is the one shown', async (t) => {
	const { done, refused, contacts, query } = await openMcp(t)
	await contacts(3, {}, 'old')
	const given = { search: 'old' }
	const { text, data } = await done('delete_contacts', given)
	t.regex(text, /^Nothing has been deleted\. 3 contacts would be deleted for good\./)
	t.is(data.preview.some.length, 3)
	await contacts(1, {}, 'older')
	const { confirmToken } = data
	t.is((await refused('delete_contacts', { ...given, confirmToken })).code, 'CONFLICT')
	const fresh = (await done('delete_contacts', given)).data
	const { data: queued } = await done('delete_contacts', {
		...given,
		confirmToken: fresh.confirmToken,
	})
	t.truthy(queued.jobId)
	const [job] = await query<{ target: object }>('select * from jobs')
	t.regex(JSON.stringify(job), /"createdAt","value":"20/)
	t.like(await refused('delete_contacts', {}), { errors: [{ field: 'contactIds' }] })
	t.like(await refused('delete_contacts', { search: ' ' }), { errors: [{ field: 'search' }] })
})

test('contacts of a tracked segment are deleted as they were shown: its stored members', async (t) => {
	const { done, request, contacts, query } = await openMcp(t)
	await contacts(2, { data: { plan: 'pro' } }, 'stored')
	const segment = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id: segmentId } = (await request('POST', '/segments', segment)).json()
	await request('POST', `/segments/${segmentId}/compute`)
	// The next compute has not seen these changes.
	await query(`update contacts set data = '{}' where email = 'stored0@example.net'`)
	await contacts(1, { data: { plan: 'pro' } }, 'later')
	const { data } = await done('delete_contacts', { segmentId })
	t.is(data.preview.contacts, 2)
	t.deepEqual(data.preview.some.toSorted(), ['stored0@example.net', 'stored1@example.net'])
	await done('delete_contacts', { segmentId, confirmToken: data.confirmToken })
})

test('contacts are not deleted once the rule of their segment, or of a segment in it, has changed', async (t) => {
	const { done, refused, request, contacts } = await openMcp(t)
	await contacts(1, { data: { plan: 'pro' } })
	await contacts(1, { data: { plan: 'free' } }, 'other')
	const segment = async (condition: object) =>
		(await request('POST', '/segments', { name: 'S', condition })).json().id as string
	const inner = await segment(plan('pro'))
	const segmentId = await segment(inSegment(inner))
	const { confirmToken } = (await done('delete_contacts', { segmentId })).data
	await request('PATCH', `/segments/${inner}`, { condition: plan('free') })
	t.like(await refused('delete_contacts', { segmentId, confirmToken }), {
		message: 'Something has changed since the preview, so nothing was done',
	})
	const fresh = (await done('delete_contacts', { segmentId })).data
	t.deepEqual(fresh.preview.some, ['other0@example.net'])
	await done('delete_contacts', { segmentId, confirmToken: fresh.confirmToken })
})

test('contacts that take too long to count are not deleted', async (t) => {
	const { refused, pool, project, query } = await openMcp(t)
	const [segment] = await query<{ id: string }>(
		`insert into segments (project_id, name, type, condition) values ($1, 'Slow', 'DYNAMIC', $2)
		returning id`,
		[project.id, JSON.stringify(await fillForSlowCount(pool))],
	)
	const error = await refused('delete_contacts', { segmentId: segment!.id })
	t.is(error.message, 'Counting these contacts takes too long')
	t.deepEqual(await query('select from jobs'), [])
})
