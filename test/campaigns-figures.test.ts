import test from 'ava'
import { openCampaigns, sumOf } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'

test('the states come to the total at every step of the way', async (t) => {
	const { contacts, create, call, act, activities, progress, query, get, written } =
		await openCampaigns(t)
	await contacts(20)
	const { id } = await create()
	const read = async (expected: object) => {
		const now = await progress(id)
		t.is(sumOf(now), now.total)
		t.like(now, { total: 20, ...expected })
	}
	await read({ pending: 20, paused: false, ratePerSecond: 0, etaSeconds: null })
	await call('POST', `/${id}/send`)
	await read({ pending: 20 })
	await act(activities.materialiseCampaign, id)
	await read({ pending: 20 })
	await written(id)
	await read({ pending: 20 })
	const move = (from: string, to: string, count: number, more = '') =>
		query(
			`update emails set status = $2 ${more} where id in (
				select id from emails where status = $1 order by id limit $3)`,
			[from, to, count],
		)
	await move('PENDING', 'SENDING', 12)
	await read({ pending: 8, sending: 12 })
	await move('SENDING', 'SENT', 7, ', sent_at = now()')
	await move('SENDING', 'UNCERTAIN', 1)
	await move('SENDING', 'FAILED', 2)
	await move('PENDING', 'SUPPRESSED', 3)
	await read({ pending: 5, sending: 2, uncertain: 1, sent: 7, failed: 2, skipped: 3 })
	// Moves all changes into the present second, however long the test took.
	await query(`update campaign_tallies set id = uuidv7('1 minute')`)
	await read({ ratePerSecond: 13, etaSeconds: 1 })
	await move('SENT', 'DELIVERED', 5, ', delivered_at = now()')
	await move('DELIVERED', 'OPENED', 4, ', opened_at = now()')
	await move('OPENED', 'CLICKED', 2, ', clicked_at = now(), unsubscribed_at = now()')
	await move('SENT', 'BOUNCED', 1, ', bounced_at = now()')
	await move('CLICKED', 'COMPLAINED', 1, ', complained_at = now()')
	await read({ sent: 7 })
	t.deepEqual((await call('GET', `/${id}/stats`)).json(), {
		totalRecipients: 20,
		sentCount: 7,
		deliveredCount: 5,
		openedCount: 4,
		clickedCount: 2,
		bouncedCount: 1,
		complainedCount: 1,
		unsubscribedCount: 2,
		failedCount: 2,
		openRate: 57.14,
		clickRate: 28.57,
		bounceRate: 14.29,
		deliveryRate: 71.43,
	})
	t.like(await get(id), { sentCount: 7, openedCount: 4, clickedCount: 2, failedCount: 2 })
	await call('POST', `/${id}/cancel`)
	await read({ pending: 0, sending: 2, skipped: 8 })
	await act(activities.cancelRecipients, id)
	await read({ pending: 0, sending: 2, skipped: 8 })
})

test('counts outlive their folding', async (t) => {
	const { contacts, started, query, progress, project } = await openCampaigns(t)
	await contacts(50)
	const id = await started()
	for (const status of ['SENDING', 'SENT', 'DELIVERED'])
		await query('update emails set status = $1', [status])
	await query(`update campaign_tallies set id = uuidv7('-1 minute')`)
	await query('select fold_campaign_tallies($1, $2)', [project.id, id])
	t.deepEqual(await query('select from campaign_tallies'), [])
	await query(`update emails set status = 'OPENED', opened_at = now()`)
	t.like(await progress(id), { total: 50, sent: 50, pending: 0 })
	await query('select fold_campaign_tallies($1, $2)', [project.id, id])
	t.like(await progress(id), { total: 50, sent: 50 })
	t.is((await query('select from campaign_tallies')).length, 1)
})

test('a list counts the mails of the campaigns on its page, and of no others', async (t) => {
	const { create, query, project, call } = await openCampaigns(t)
	const other = await create({ name: 'Other' })
	const { id } = await create()
	// The sum of these is unknown.
	for (const campaign of [other.id, other.id, id])
		await query(
			'insert into campaign_tallies (project_id, campaign_id, sent) values ($1, $2, $3)',
			[project.id, campaign, 2 ** 31 - 1],
		)
	const page = await call('GET', '?pageSize=1')
	t.is(page.statusCode, 200, page.body)
	t.like(page.json(), { total: 2, data: { 0: { id, sentCount: 2 ** 31 - 1 }, length: 1 } })
	t.is((await call('GET', `/${other.id}`)).statusCode, 500)
})

test('a contact deleted while waiting is skipped; a mail on its way to one is in doubt', async (t) => {
	const { contacts, started, act, activities, request, query, states, progress, get } =
		await openCampaigns(t)
	const [first, second, third] = await contacts(3)
	const id = await started()
	await query(
		`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now() - interval '3 minutes' where contact_id = $1`,
		[second],
	)
	for (const contact of [first, second])
		t.is((await request('DELETE', `/contacts/${contact}`)).statusCode, 204)
	t.like(await act(activities.advanceCampaign, id), { act: 'send' })
	t.deepEqual(await states(id), { CANCELLED: 1, PENDING: 1, UNCERTAIN: 1 })
	await query(`update emails set status = 'SENT' where contact_id = $1`, [third])
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
	t.like(await progress(id), { total: 3, sent: 1, skipped: 1, uncertain: 1 })
	t.is((await get(id)).status, 'SENT')
	t.deepEqual(await query('select outcome from attempts'), [{ outcome: 'UNKNOWN' }])
})

test('recipients are listed by page, by status, and after their contacts are deleted', async (t) => {
	const { contacts, started, call, query, request } = await openCampaigns(t)
	const ids = await contacts(5)
	const id = await started()
	await query(
		`update emails set status = 'FAILED', error = 'No such mailbox' where "to" = 'user1@example.net'`,
	)
	const pages = async (query: string) => {
		const found: string[] = []
		const totals: number[] = []
		for (let cursor: string | undefined, more = true; more;) {
			const page = (
				await call('GET', `/${id}/recipients?limit=2${query}${cursor ? `&cursor=${cursor}` : ''}`)
			).json()
			t.is(page.hasMore, page.cursor !== undefined)
			found.push(...page.data.map(({ email }: { email: string }) => email))
			totals.push(page.total)
			cursor = page.cursor
			more = page.hasMore
		}
		return { found, totals }
	}
	const addresses = [0, 1, 2, 3, 4].map((n) => `user${n}@example.net`)
	t.deepEqual(await pages(''), { found: addresses, totals: [5, 0, 0] })
	t.deepEqual(await pages('&status=FAILED'), { found: ['user1@example.net'], totals: [1] })
	await query(`update emails set status = 'SENT' where "to" = 'user2@example.net'`)
	for (const [status, total] of Object.entries({ PENDING: 3, SENDING: 0, SENT: 1, OPENED: 0 }))
		t.is((await call('GET', `/${id}/recipients?status=${status}`)).json().total, total)
	const [first] = (await call('GET', `/${id}/recipients?status=FAILED`)).json().data
	t.like(first, { contactId: ids[1], status: 'FAILED', error: 'No such mailbox', sentAt: null })
	for (const contact of ids.slice(0, 3)) await request('DELETE', `/contacts/${contact}`)
	const { found } = await pages('')
	t.deepEqual(found, [...addresses.slice(3), ...addresses.slice(0, 3)])
	for (const query of ['status=GONE', 'cursor=x', 'limit=0'])
		isEnvelope(t, await call('GET', `/${id}/recipients?${query}`), 400, 'BAD_REQUEST')
})
