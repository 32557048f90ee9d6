import test from 'ava'
import PostalMime from 'postal-mime'
import { overResend, overSmtp } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'

const move = `update contacts set email = 'new@example.net', data = '{"name": "Zoe"}'
	where email = 'user0@example.net'`

test('a campaign is sent to the contact’s address at that moment, which the ledger records', async (t) => {
	const { send, worker, sink, mails, query, recipients, id } = await overSmtp(t, 2)
	await query(move)
	t.like(await send(worker), { settled: 2, left: 0 })
	t.deepEqual(sink.mails.map(({ to }) => to).sort(), ['new@example.net', 'user1@example.net'])
	const { raw } = sink.mails.find(({ to }) => to === 'new@example.net')!
	const mail = await PostalMime.parse(raw)
	t.is(mail.to![0]!.address, 'new@example.net')
	t.is(mail.subject, 'Hello Zoe')
	t.deepEqual(await recipients(id), ['new@example.net', 'user1@example.net'])
	for (const { status } of await mails()) t.is(status, 'SENT')
})

test('suppression is checked for the current address of a campaign’s mail', async (t) => {
	const { send, worker, sink, mails, query, project } = await overSmtp(t, 3)
	await query(move)
	await query(`update contacts set email = 'also@example.net' where email = 'user1@example.net'`)
	const suppress = `insert into suppressions (project_id, email, reason) values ($1, $2, 'MANUAL')`
	await query(suppress, [project.id, 'new@example.net'])
	await query(suppress, [project.id, 'user1@example.net'])
	t.like(await send(worker), { settled: 3, left: 0 })
	t.deepEqual(sink.mails.map(({ to }) => to).sort(), ['also@example.net', 'user2@example.net'])
	const states = (await mails()).map(({ to, status }) => `${to} ${status}`)
	t.deepEqual(states.sort(), [
		'also@example.net SENT',
		'new@example.net SUPPRESSED',
		'user2@example.net SENT',
	])
})

test('a deferred mail is sent to the contact’s address at its next try', async (t) => {
	const { send, worker, sink, query } = await overSmtp(t, 1)
	sink.faults.push({ at: 'rcpt', reply: '451 4.3.0 later, retry in 60 s', times: 1 })
	await send(worker)
	await query(move)
	await query('update emails set due_at = null')
	t.like(await send(worker), { settled: 1, left: 0 })
	t.deepEqual(
		sink.mails.map(({ to }) => to),
		['new@example.net'],
	)
})

test('a mail sent again by its owner after its campaign uses the current address, unless it is suppressed', async (t) => {
	const {
		worker,
		sink,
		mails,
		query,
		app,
		withSecretKey,
		project,
		written,
		act,
		activities,
		id: campaignId,
	} = await overSmtp(t, 2)
	await written(campaignId)
	await query(`update emails set status = 'UNCERTAIN', attempt = 1, attempt_started_at = now()`)
	t.like(await act(activities.advanceCampaign, campaignId), { act: 'end' })
	await query(move)
	await query(`update contacts set email = 'bad@example.net' where email = 'user1@example.net'`)
	await query(
		`insert into suppressions (project_id, email, reason) values ($1, 'bad@example.net', 'MANUAL')`,
		[project.id],
	)
	for (const { id } of await mails())
		await app.inject({
			method: 'POST',
			url: `/emails/${id}/resolve`,
			headers: withSecretKey,
			payload: { as: 'retry' },
		})
	t.like(await worker.deliver(), { left: 0 })
	t.deepEqual(
		sink.mails.map(({ to }) => to),
		['new@example.net'],
	)
	t.deepEqual((await mails()).map(({ status }) => status).sort(), ['SENT', 'SUPPRESSED'])
})

test('a batch that is repeated under its key keeps the addresses it had', async (t) => {
	const { send, provider, pool, fake, query, recipients, id } = await overResend(t, 3)
	const begun = Promise.withResolvers<void>()
	const ends = Promise.withResolvers<never>()
	const dying = { ...provider, deliverBatch: () => (begun.resolve(), ends.promise) }
	const dead = send(campaignWorker(pool, dying)).catch(() => {})
	t.teardown(async () => {
		ends.reject(new Error('dead'))
		await dead
	})
	await begun.promise
	await query(`update contacts set email = 'new@example.net' where email = 'user0@example.net'`)
	t.like(await send(campaignWorker(pool, provider)), { settled: 3, left: 0 })
	const addresses = ['user0@example.net', 'user1@example.net', 'user2@example.net']
	t.deepEqual(fake.accepted.map(({ mail }) => String(mail.to)).sort(), addresses)
	t.deepEqual(await recipients(id), addresses)
})

test('the content of a mail is shown with the address it was sent to', async (t) => {
	const { send, worker, mails, query, app, withSecretKey } = await overSmtp(t, 1)
	await query(`update campaigns set body = '<p>{{ email }}</p>'`)
	await send(worker)
	await query(move)
	const { id } = (await mails())[0]!
	const answer = await app.inject({ url: `/emails/${id}`, headers: withSecretKey })
	t.is(answer.json().body, '<p>user0@example.net</p>')
	t.is(answer.json().to, 'user0@example.net')
})
