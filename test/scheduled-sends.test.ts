import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { createRelease } from '../db/outbox/due-sends.ts'
import { transaction } from '../db/transaction.ts'
import { runningStack } from './helpers/running-stack.ts'
import { nothing, setupSend } from './helpers/send.ts'
import { usageSums } from './helpers/usage.ts'

const inMinutes = (minutes: number) => new Date(Date.now() + 60_000 * minutes).toISOString()

async function setupScheduled(t: ExecutionContext) {
	const all = await setupSend(t)
	const { app, pool, send, withSecretKey } = all
	const ask = (method: 'GET' | 'PATCH' | 'POST', url: string, payload?: object) =>
		app.inject({ method, url, headers: withSecretKey, ...(payload && { payload }) })
	const newProcess = () => createRelease(pool, 'core', { warn: () => {} })
	return {
		...all,
		ask,
		newProcess,
		release: newProcess(),
		/** Creates projects that have mails scheduled, and returns their ids in order. */
		async others(count: number, mailsOfEach: number) {
			const to = Array.from({ length: mailsOfEach }, (_, i) => `a${i}@a.org`)
			const delivery = { at: inMinutes(60) }
			const projects = []
			while (projects.length < count) {
				const domain = `${randomUUID()}.example`
				const { project, withSecretKey } = await all.newProject(domain)
				const response = await send({ to, from: `app@${domain}`, delivery }, withSecretKey)
				t.is(response.statusCode, 200, response.body)
				projects.push(project.id)
			}
			return projects.toSorted()
		},
		/** Schedules a mail and returns its id. */
		schedule: async (changes: object = {}, at = inMinutes(60)) => {
			const response = await send({ delivery: { at }, ...changes })
			t.is(response.statusCode, 200, response.body)
			return response.json<{ data: { emails: { email: string }[] } }>().data.emails[0]!.email
		},
		/** Lets time pass for scheduled mails. */
		pass: (minutes: number) =>
			pool.query(`update scheduled_sends set due_at = due_at - $1 * interval '1 minute'`, [
				minutes,
			]),
		statuses: async () => {
			const { rows } = await pool.query('select status from emails order by id')
			return rows.map(({ status }) => status as string)
		},
		move: (id: string, at: string) => ask('PATCH', `/emails/${id}`, { delivery: { at } }),
		cancel: (id: string) => ask('POST', `/emails/${id}/cancel`),
		queued: async () => {
			const { rows } = await pool.query(
				`select o.priority, q.email_ids from queued_sends q join outbox o on o.workflow_id = 'send/' || q.claim_id
				order by q.id`,
			)
			return rows as { priority: number; email_ids: string[] }[]
		},
	}
}

test('a mail for later is SCHEDULED until its time, and then waits for a run like any other', async (t) => {
	const { send, pass, release, statuses, queued, ask, written, pool } = await setupScheduled(t)
	const at = inMinutes(60)
	const response = await send({ to: ['a@a.org', 'b@a.org'], delivery: { at } })
	t.is(response.statusCode, 200, response.body)
	const { emails } = response.json().data
	for (const mail of emails) t.like(mail, { status: 'SCHEDULED', scheduledFor: at })
	t.deepEqual(await written(), { ...nothing, contacts: 2, emails: 2 })
	t.is(await release(), 0)
	t.deepEqual(await statuses(), ['SCHEDULED', 'SCHEDULED'])
	t.like((await ask('GET', `/emails/${emails[0].email}`)).json(), {
		status: 'SCHEDULED',
		scheduledFor: at,
	})
	await pass(61)
	t.is(await release(), 2)
	t.is(await release(), 0)
	t.deepEqual(await statuses(), ['PENDING', 'PENDING'])
	const ids = emails.map(({ email }: { email: string }) => email)
	t.deepEqual(await queued(), [{ priority: 2, email_ids: ids }])
	t.is((await pool.query('select from scheduled_sends')).rowCount, 0)
})

test('a time in the past means now, and one that is too far ahead or without a zone is refused', async (t) => {
	const { send, refused, statuses, written } = await setupScheduled(t)
	const now = await send({ delivery: { at: inMinutes(-5) } })
	t.deepEqual(Object.keys(now.json().data.emails[0]), ['contact', 'email'])
	t.deepEqual(await statuses(), ['PENDING'])
	const before = await written()
	t.deepEqual(await refused({ delivery: { at: inMinutes(31 * 24 * 60) } }), [
		'delivery.at: too_big',
	])
	const unreadable = ['tomorrow', '2030-01-31T09:00:00', '2030-01-31', '2030-01-31T09:00:00+05', 17]
	for (const at of [...unreadable, '2030-06-30T23:59:60Z'])
		t.regex((await refused({ delivery: { at } })).join(), /^delivery\.at: invalid_/)
	t.deepEqual(await refused({ delivery: { on: inMinutes(5) } }), ['delivery.on: unrecognized_keys'])
	t.deepEqual(await refused({ sendAt: inMinutes(5) }), ['sendAt: unrecognized_keys'])
	t.is(
		(await send({ scheduled_at: 'x' })).json().error.errors[0].message,
		'is not known here: use delivery.at',
	)
	t.deepEqual(await written(), before)
	t.is((await send({ delivery: { at: inMinutes(30 * 24 * 60 - 1) } })).statusCode, 200)
})

test('mails are released in the order of their times, and each message of a batch has a time of its own', async (t) => {
	const { app, withSecretKey, pass, release, queued, statuses } = await setupScheduled(t)
	const message = { to: 'a@a.org', from: 'app@example.com', subject: 'Hi', body: 'Hi' }
	const response = await app.inject({
		method: 'POST',
		url: '/v1/send/batch',
		headers: withSecretKey,
		payload: [
			{ ...message, delivery: { at: inMinutes(30) } },
			message,
			{ ...message, delivery: { at: inMinutes(10) } },
			{ ...message, delivery: { at: inMinutes(90) } },
		],
	})
	t.is(response.statusCode, 200, response.body)
	const results: { emails: { email: string; status?: string }[] }[] = response.json().data.results
	t.deepEqual(
		results.map(({ emails }) => emails[0]!.status),
		['SCHEDULED', undefined, 'SCHEDULED', 'SCHEDULED'],
	)
	await pass(31)
	t.is(await release(), 2)
	const ids = results.map(({ emails }) => emails[0]!.email)
	t.deepEqual((await queued())[0]!.email_ids, [ids[2], ids[0]])
	t.deepEqual(await statuses(), ['PENDING', 'PENDING', 'PENDING', 'SCHEDULED'])
})

test('a scheduled mail can be moved, also to now', async (t) => {
	const { schedule, move, release, pass, statuses, mails } = await setupScheduled(t)
	const id = await schedule()
	const later = inMinutes(120)
	const moved = await move(id, later)
	t.is(moved.statusCode, 200, moved.body)
	t.like(moved.json(), { status: 'SCHEDULED', scheduledFor: later })
	await pass(61)
	t.is(await release(), 0)
	t.is((await move(id, inMinutes(-1))).statusCode, 200)
	t.is(await release(), 1)
	t.deepEqual(await statuses(), ['PENDING'])
	t.true((await mails())[0]!.scheduledFor! <= new Date())
	t.is((await move(id, inMinutes(31 * 24 * 60))).statusCode, 422)
	const late = await move(id, later)
	t.is(late.statusCode, 409)
	t.deepEqual(late.json().error.details, { status: 'PENDING' })
	t.is((await move(crypto.randomUUID(), later)).statusCode, 404)
})

test('a scheduled mail can be moved to at most 60 days after it was accepted', async (t) => {
	const { schedule, move, pool } = await setupScheduled(t)
	const id = await schedule()
	const days = 24 * 60
	await pool.query(`update emails set created_at = created_at - interval '40 days'`)
	const far = await move(id, inMinutes(21 * days))
	t.is(far.statusCode, 422, far.body)
	t.like(far.json().error.errors[0], {
		field: 'delivery.at',
		message: 'must be at most 60 days after the mail was accepted',
	})
	t.is((await move(id, inMinutes(19 * days))).statusCode, 200)
})

test('a scheduled mail can be cancelled, once, and then never leaves', async (t) => {
	const { schedule, cancel, pass, release, statuses, written } = await setupScheduled(t)
	const id = await schedule()
	const cancelled = await cancel(id)
	t.is(cancelled.statusCode, 200, cancelled.body)
	t.like(cancelled.json(), { status: 'CANCELLED', error: 'Cancelled before its time' })
	const again = await cancel(id)
	t.is(again.statusCode, 409)
	t.deepEqual(again.json().error.details, { status: 'CANCELLED' })
	await pass(120)
	t.is(await release(), 0)
	t.deepEqual(await statuses(), ['CANCELLED'])
	t.is((await written()).queued, 0)
	t.is((await cancel(crypto.randomUUID())).statusCode, 404)
})

test('of a release and a cancellation or a move at the same moment one wins, and the answer is true', async (t) => {
	const { schedule, cancel, move, pass, release, pool } = await setupScheduled(t)
	const winners = { cancel: 0, move: 0, release: 0 }
	for (let round = 0; round < 200; round++) {
		const id = await schedule()
		await pass(61)
		const act = round % 2 === 0 ? 'cancel' : 'move'
		const answer = act === 'cancel' ? cancel(id) : move(id, inMinutes(60))
		// So that either is ahead at times.
		const [{ statusCode }] = await Promise.all([answer, sleep(round % 5).then(release)])
		const { rows } = await pool.query(
			`select status, exists (select from queued_sends q where e.id = any(q.email_ids)) as queued from (
				select e.id, e.status from emails e where e.id = $1) e`,
			[id],
		)
		const expected = { cancel: 'CANCELLED', move: 'SCHEDULED' }[act]
		t.deepEqual(
			rows[0],
			statusCode === 200
				? { status: expected, queued: false }
				: { status: 'PENDING', queued: true },
		)
		winners[statusCode === 200 ? act : 'release'] += 1
		await pool.query('delete from queued_sends')
		await pool.query('delete from outbox')
		await pool.query('delete from scheduled_sends')
	}
	t.log(winners)
	t.true(winners.cancel > 0 && winners.release > 0, JSON.stringify(winners))
})

test('two processes that release at the same time release each mail once', async (t) => {
	const { schedule, pass, newProcess, queued } = await setupScheduled(t)
	const to = Array.from({ length: 50 }, (_, i) => `a${i}@a.org`)
	await schedule({ to })
	await pass(61)
	const counts = await Promise.all([1, 2, 3].map(() => newProcess()()))
	t.is(
		counts.reduce((sum, count) => sum + count, 0),
		50,
	)
	const released = (await queued()).flatMap(({ email_ids }) => email_ids)
	t.deepEqual([released.length, new Set(released).size], [50, 50])
})

test('a project whose scheduled mails wait in many runs releases no more, and others do', async (t) => {
	const { schedule, pass, release, queued, pool } = await setupScheduled(t)
	const to = Array.from({ length: 1000 }, (_, i) => `a${i}@a.org`)
	await schedule({ to })
	await schedule({ to })
	await pass(61)
	t.deepEqual([await release(), await release(), await release()], [500, 500, 0])
	t.deepEqual(
		(await queued()).map(({ email_ids }) => email_ids.length),
		[500, 500],
	)
	await pool.query(`delete from outbox where workflow_type = 'send'`)
	t.is(await release(), 500)
})

test('a project whose mails can’t be released holds up no other', async (t) => {
	const { schedule, pass, release, newProject, post, project, pool, statuses } =
		await setupScheduled(t)
	const { withSecretKey } = await newProject('other.example')
	await schedule()
	const message = { to: 'a@a.org', from: 'a@other.example', subject: 'Hi', body: 'Hi' }
	const other = await post({ ...message, delivery: { at: inMinutes(60) } }, withSecretKey)
	t.is(other.statusCode, 200, other.body)
	await pass(61)
	await pool.query(
		`alter table queued_sends add constraint broken check (project_id <> '${project.id}')`,
	)
	t.is(await release(), 1)
	t.deepEqual(await statuses(), ['SCHEDULED', 'PENDING'])
	await pool.query('alter table queued_sends drop constraint broken')
	t.is(await release(), 1)
	t.deepEqual(await statuses(), ['PENDING', 'PENDING'])
})

test('every project with due mails has its turn, however many mails others have due', async (t) => {
	const { others, pass, release, pool } = await setupScheduled(t)
	const many = await others(20, 501)
	const [one] = await others(1, 1)
	t.true(many.every((id) => id < one!))
	await pass(61)
	const released = async () => {
		// Runs end quickly, so each project may start another one.
		const { rows } = await pool.query(
			`with ended as (delete from outbox where workflow_type = 'send' returning project_id, payload ->> 'claimId' as claim)
			select project_id, cardinality(email_ids) as mails from ended join queued_sends q using (project_id)
			where q.claim_id::text = claim order by project_id`,
		)
		return rows as { project_id: string; mails: number }[]
	}
	t.is(await release(), 2000)
	t.deepEqual(
		await released(),
		many.map((project_id) => ({ project_id, mails: 100 })),
	)
	await release()
	t.deepEqual(
		(await released()).map(({ project_id }) => project_id),
		[...many.slice(0, 19), one],
	)
	await release()
	t.deepEqual(
		(await released()).map(({ project_id }) => project_id),
		many,
	)
})

test('projects whose mails can’t be released never keep others from their turn', async (t) => {
	const { others, pass, release, pool } = await setupScheduled(t)
	const broken = await others(20, 1)
	const [other] = await others(1, 1)
	t.true(broken.every((id) => id < other!))
	await pass(61)
	await pool.query(`alter table queued_sends add constraint broken check (project_id = '${other}')`)
	t.deepEqual([await release(), await release(), await release()], [0, 1, 0])
})

test('a locked mail of one project does not hold up the due mails of others', async (t) => {
	const { schedule, others, pass, release, pool, project, statuses } = await setupScheduled(t)
	const id = await schedule()
	const [other] = await others(1, 1)
	t.true(project.id < other!)
	await pass(61)
	await transaction(pool, async (db) => {
		await db.query('select from emails where id = $1 for update', [id])
		t.is(await release(), 1)
		t.deepEqual(await statuses(), ['SCHEDULED', 'PENDING'])
	})
	t.is(await release(), 1)
	t.deepEqual(await statuses(), ['PENDING', 'PENDING'])
})

test('a mail of a MARKETING template is not sent to a contact who has unsubscribed meanwhile', async (t) => {
	const { schedule, createTemplate, createContact, pass, release, mails, pool, written } =
		await setupScheduled(t)
	const { id: template } = await createTemplate({ type: 'MARKETING' })
	for (const email of ['stays@a.org', 'leaves@a.org'])
		await createContact(email, { subscribed: true })
	await schedule({ to: ['stays@a.org', 'leaves@a.org'], template })
	await pool.query(`update contacts set subscribed = false where email = 'leaves@a.org'`)
	await pass(61)
	await release()
	t.deepEqual(
		(await mails()).map(({ status, error }) => [status, error]),
		[
			['PENDING', null],
			['CANCELLED', 'The contact is not subscribed'],
		],
	)
	t.is((await written()).queued, 1)
})

test('a scheduled mail is not sent once the project has lost its domain', async (t) => {
	const { schedule, pass, release, mails, pool, queued } = await setupScheduled(t)
	for (const to of ['a@a.org', 'b@a.org']) await schedule({ to })
	await pool.query('delete from domains')
	await pass(61)
	t.is(await release(), 2)
	const lost = ['CANCELLED', 'The sender’s domain is not verified any more']
	t.deepEqual(
		(await mails()).map(({ status, error }) => [status, error]),
		[lost, lost],
	)
	t.deepEqual(await queued(), [])
})

test('scheduled mails are listed by their status, with the other filters', async (t) => {
	const { schedule, send, cancel, ask, contact } = await setupScheduled(t)
	const ids: string[] = []
	for (const to of ['a@a.org', 'b@a.org', 'a@a.org', 'b@a.org']) ids.push(await schedule({ to }))
	await send()
	await cancel(ids[1]!)
	const list = async (query: string) =>
		(await ask('GET', `/emails?status=SCHEDULED${query}`)).json<{
			data: { id: string }[]
			total: number
			cursor?: string
		}>()
	const first = await list('&limit=2')
	t.deepEqual(
		first.data.map(({ id }) => id),
		[ids[3], ids[2]],
	)
	t.is(first.total, 3)
	const second = await list(`&limit=2&cursor=${first.cursor}`)
	t.deepEqual(
		second.data.map(({ id }) => id),
		[ids[0]],
	)
	const theirs = await list(`&contactId=${(await contact('a@a.org')).id}`)
	t.deepEqual(
		theirs.data.map(({ id }) => id),
		[ids[2], ids[0]],
	)
	t.is(theirs.total, 2)
})

test('an erased contact’s scheduled mail is cancelled', async (t) => {
	const { schedule, contact, app, withSecretKey, pass, release, mails } = await setupScheduled(t)
	await schedule()
	const { id } = await contact('anna@example.org')
	const erased = await app.inject({
		method: 'DELETE',
		url: `/contacts/${id}?erase=true`,
		headers: withSecretKey,
	})
	t.true(erased.statusCode < 300, erased.body)
	await pass(61)
	t.is(await release(), 0)
	t.like((await mails())[0], { status: 'CANCELLED', error: 'The contact was erased' })
})

test('erasing waits for the release of a mail without holding the mail', async (t) => {
	const { schedule, contact, app, withSecretKey, pool } = await setupScheduled(t)
	const id = await schedule()
	const person = await contact('anna@example.org')
	const { answer } = await transaction(pool, async (db) => {
		await db.query('select from scheduled_sends for update')
		const erasing = app.inject({
			method: 'DELETE',
			url: `/contacts/${person.id}?erase=true`,
			headers: withSecretKey,
		})
		const waits = `select from pg_locks where not granted and pid in (
			select pid from pg_stat_activity where datname = current_database())`
		t.true(await until(async () => (await pool.query(waits)).rowCount! > 0, 10_000))
		await t.notThrowsAsync(db.query('select from emails where id = $1 for update nowait', [id]))
		return { answer: erasing }
	})
	t.true((await answer).statusCode < 300)
})

test('scheduled mails count as used for billing, and no longer when they are cancelled', async (t) => {
	const { schedule, cancel, pool } = await setupScheduled(t)
	const id = await schedule({ to: ['a@a.org', 'b@a.org'] })
	t.deepEqual(await usageSums(pool), { used: 2, sent: 0 })
	await cancel(id)
	t.deepEqual(await usageSums(pool), { used: 1, sent: 0 })
})

test('upcoming activities include scheduled mails, campaigns and executions', async (t) => {
	const { schedule, ask } = await setupScheduled(t)
	const at = inMinutes(60)
	const id = await schedule({ subject: 'Soon' }, at)
	await schedule({}, inMinutes(29 * 24 * 60))
	const { activities } = (await ask('GET', '/activity/upcoming?daysAhead=2')).json<{
		activities: object[]
	}>()
	t.is(activities.length, 1)
	t.like(activities[0], {
		id,
		type: 'email.scheduled',
		timestamp: at,
		contactEmail: 'anna@example.org',
		metadata: { emailId: id, subject: 'Soon' },
	})
})

test('a scheduled mail reaches the mailbox at its time, with that time as its date', async (t) => {
	const { http } = await runningStack(t)
	const at = new Date(Date.now() + 10_000)
	const message = { from: 'hello@example.com', subject: 'Hello', body: 'Hello' }
	const answer = await http.post('/v1/send', { ...message, to: 'a@a.org', delivery: { at } })
	t.is(answer.status, 200, answer.body)
	const { email: id } = JSON.parse(answer.body).data.emails[0]
	const mail = async () => JSON.parse((await http.get(`/emails/${id}`)).body)
	t.is((await mail()).status, 'SCHEDULED')
	t.true(await until(async () => (await mail()).status === 'SENT', 30_000))
	const { sentAt, scheduledFor } = await mail()
	t.is(scheduledFor, at.toISOString())
	t.true(new Date(sentAt) >= at, `${sentAt} is before ${scheduledFor}`)
	const mailbox = JSON.parse((await http.get('/mailbox/messages')).body)
	const date = new Date(mailbox.messages[0].headers['Date'])
	t.is(date.getTime(), Math.floor(at.getTime() / 1000) * 1000)
})
