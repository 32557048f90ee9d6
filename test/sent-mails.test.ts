import { recordSent } from '../db/emails/ledger.ts'
import { lastId } from '../db/events/event.ts'
import test, { type ExecutionContext } from 'ava'
import { blocksReadBy } from './helpers/blocks-read.ts'
import { createProject } from './helpers/app.ts'
import { setupFeed } from './helpers/feed.ts'
import { mailStep, waitStep } from './helpers/executions.ts'

interface Listed {
	id: string
	name: string
	emailId: string
	createdAt: string
	data: { subject: string; sentAt: string }
}

/** One contact, and mails to it. */
async function setupSentMails(t: ExecutionContext) {
	const context = await setupFeed(t)
	const { call, contact, get, pool, feed } = context
	const contactId = await contact()
	const accept = async (subject: string) => {
		const mail = { to: 'ann@example.org', from: 'us@example.com', subject, body: 'Hello' }
		const answer = await call('POST', '/v1/send', mail)
		return answer.json().data.emails[0].email as string
	}
	/** Accepted long before it is sent. */
	const late = async (subject: string) => {
		const id = await accept(subject)
		await pool.query(`update emails set id = uuidv7(interval '-1 minute') where id = $1`, [id])
	}
	const subjects = async (url: string) =>
		(await get<{ events: Listed[] }>(url)).events
			.filter(({ name }) => name === 'email.sent')
			.map(({ data }) => data.subject)
	const everywhere = async () => ({
		all: await subjects('/events'),
		named: await subjects('/events?eventName=email.sent'),
		contact: await subjects(`/events/contact/${contactId}`),
		feed: (await feed('?types=email.sent')).data.map(({ metadata }) => metadata['subject']),
		feedOfContact: (await feed(`?types=email.sent&contactId=${contactId}`)).data.map(
			({ metadata }) => metadata['subject'],
		),
	})
	const stored = async () => (await pool.query('select from events')).rowCount
	return { ...context, contactId, accept, late, everywhere, stored }
}

const alike = (subjects: string[]) =>
	Object.fromEntries(
		['all', 'named', 'contact', 'feed', 'feedOfContact'].map((list) => [list, subjects]),
	)

test('a mail that is sent at once is its own event, and nothing else is stored', async (t) => {
	const { accept, sendMails, everywhere, stored, get, pool, contactId } = await setupSentMails(t)
	for (const subject of ['One', 'Two', 'Three']) {
		await accept(subject)
		await sendMails()
	}
	t.is(await stored(), 0)
	t.deepEqual(await everywhere(), alike(['Three', 'Two', 'One']))
	const { events } = await get<{ events: Listed[] }>('/events')
	for (const { id, emailId, createdAt, data } of events) {
		t.is(id, emailId)
		t.is(createdAt, data.sentAt)
	}
	const until = new Date(Date.now() + 1000).toISOString()
	t.deepEqual(await get(`/events/stats?endDate=${until}`), [{ name: 'email.sent', count: 3 }])
	t.like(await get('/events/email.sent/usage'), { totalCount: 3, uniqueContacts: 1 })
	await pool.query('update emails set contact_id = null where contact_id = $1', [contactId])
	t.like(await get('/events/email.sent/usage'), { totalCount: 3, uniqueContacts: 0 })
})

test('a mail that is sent later has a stored event, and lists show both kinds in order of time', async (t) => {
	const { accept, late, sendMails, everywhere, stored, get } = await setupSentMails(t)
	for (const [i, subject] of ['One', 'Two', 'Three', 'Four'].entries()) {
		await (i % 2 === 0 ? late : accept)(subject)
		await sendMails()
	}
	t.is(await stored(), 2)
	t.deepEqual(await everywhere(), alike(['Four', 'Three', 'Two', 'One']))
	t.like(await get('/events/email.sent/usage'), { totalCount: 4, uniqueContacts: 1 })
})

test('mails that were sent in another order than they were accepted are listed as they were sent', async (t) => {
	const { accept, sendMails, everywhere, feed, pool, contactId } = await setupSentMails(t)
	const names = Array.from({ length: 12 }, (_, i) => `${i}`)
	for (const name of names) await accept(name)
	await sendMails()
	await pool.query(
		`update emails set sent_at = sent_at + (('{5,1,7,3,11,9,0,2,10,8,4,6}'::int[])[subject::int + 1] || ' ms')::interval`,
	)
	const inOrder = ['4', '8', '5', '9', '2', '11', '0', '10', '3', '7', '1', '6']
	t.deepEqual(await everywhere(), alike(inOrder))
	for (const filter of ['', `&contactId=${contactId}`]) {
		const walked: unknown[] = []
		let query = `?types=email.sent&limit=2${filter}`
		for (let more = true; more;) {
			const { data, hasMore, cursor } = await feed(query)
			walked.push(...data.map(({ metadata }) => metadata['subject']))
			query = `?types=email.sent&limit=2${filter}&cursor=${cursor}`
			more = hasMore
		}
		t.deepEqual(walked, inOrder)
	}
})

test('a workflow that waits for a mail hears of it, with what the mail says', async (t) => {
	const { accept, sendMails, stored, freeze, track, executions, advance, executionId, outbox } =
		await setupSentMails(t)
	await freeze({ on: 'bought', steps: [waitStep('email.sent'), mailStep] })
	await track('bought')
	const before = await stored()
	await advance(await executionId())
	t.like((await executions())[0], { status: 'WAITING', wait_event_name: 'email.sent' })
	const mail = await accept('Awaited')
	await sendMails()
	t.like((await executions())[0], {
		status: 'RUNNING',
		event: { id: mail, name: 'email.sent', data: { emailId: mail, subject: 'Awaited' } },
	})
	t.is((await outbox('signal')).length, 1)
	t.is(await stored(), before)
})

test('a mail that was sent while a workflow came to its wait counts', async (t) => {
	const { accept, sendMails, freeze, track, executions, advance, executionId } =
		await setupSentMails(t)
	await freeze({ on: 'bought', steps: [waitStep('email.sent')] })
	await track('bought')
	const mail = await accept('Before')
	await sendMails()
	await advance(await executionId())
	t.like((await executions())[0], { status: 'COMPLETED' })
	t.truthy(mail)
})

test('conditions on the event find its contacts, and segments follow it', async (t) => {
	const { accept, late, sendMails, contact, call, get } = await setupSentMails(t)
	await contact('bob@example.org')
	const filter = { field: 'event.email.sent', operator: 'triggeredWithin', value: 1, unit: 'days' }
	const condition = { logic: 'AND', groups: [{ filters: [filter] }] }
	const { id } = (
		await call('POST', '/segments', {
			name: 'Sent',
			type: 'DYNAMIC',
			condition,
			trackMembership: true,
		})
	).json()
	const members = async () => {
		t.is((await call('POST', `/segments/${id}/compute`)).statusCode, 200)
		const { data } = await get<{ data: { email: string }[] }>(`/segments/${id}/contacts`)
		return data.map(({ email }) => email)
	}
	t.deepEqual(await members(), [])
	await accept('At once')
	await sendMails()
	t.deepEqual(await members(), ['ann@example.org'])
	await late('Later')
	await sendMails()
	t.deepEqual(await members(), ['ann@example.org'])
})

test('a workflow that began to wait while a mail was being recorded hears of it', async (t) => {
	const { accept, freeze, track, executions, advance, executionId, pool, project } =
		await setupSentMails(t)
	const mail = await accept('Meanwhile')
	await pool.query(`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now()`)
	const holder = await pool.connect()
	await holder.query('begin')
	await holder.query('select from emails where id = $1 for share', [mail])
	const [{ pid } = { pid: 0 }] = (await holder.query('select pg_backend_pid() as pid')).rows
	const recorded = recordSent(pool, {
		projectId: project.id,
		emailIds: [mail],
		outcomes: { [mail]: [1, null, null, null] },
	})
	const areWaiting = async () => {
		const { rowCount } = await pool.query(
			'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
			[pid],
		)
		return rowCount! > 0
	}
	while (!(await areWaiting()));
	await freeze({ on: 'bought', steps: [waitStep('email.sent')] })
	await track('bought')
	await advance(await executionId())
	t.like((await executions())[0], { status: 'WAITING' })
	await holder.query('commit')
	holder.release()
	await recorded
	t.like((await executions())[0], { status: 'RUNNING', event: { id: mail } })
})

test('the mails to a contact are shown to its own project only', async (t) => {
	const { accept, sendMails, contactId, orm, ask } = await setupSentMails(t)
	await accept('Ours')
	await sendMails()
	const { withSecretKey } = await createProject(orm)
	const answer = (await ask(`/activity?contactId=${contactId}`, withSecretKey)).json()
	t.like(answer, { data: [], total: 0 })
})

test('mails of a campaign count as mails of its template', async (t) => {
	const { call, get, pool, project, templateId, contactId } = await setupSentMails(t)
	const { rows } = await pool.query<{ id: string }>(
		`insert into campaigns (project_id, name, subject, body, "from", type, audience_type, template_id)
		values ($1, 'News', 'News', 'News', 'us@example.com', 'MARKETING', 'ALL', $2) returning id`,
		[project.id, templateId],
	)
	await pool.query(
		`insert into emails (project_id, contact_id, "to", source_type, campaign_id, status, sent_at)
		values ($1, $2, 'ann@example.org', 'CAMPAIGN', $3, 'SENT', now())`,
		[project.id, contactId, rows[0]!.id],
	)
	t.is((await call('GET', `/templates/${templateId}/usage`)).statusCode, 200)
	t.like(await get(`/templates/${templateId}/usage`), { emailsSent: 1 })
	t.like((await get<{ data: object[] }>('/emails')).data[0], {
		from: 'us@example.com',
		subject: 'News',
		templateId,
	})
})

test('lists with sent mails read as little of the ledger if nearly all mails are sent later than accepted', async (t) => {
	const { get, pool, project, contactId } = await setupSentMails(t)
	await pool.query(`update mikro_orm_migrations set executed_at = '2000-01-01'`)
	const since = new Date(0)
	const blocks = async (mails: number) => {
		await pool.query(
			`with late as (
				insert into emails (project_id, id, contact_id, "to", "from", subject, source_type, status, sent_at)
				select $1, uuidv7(- interval '1 minute' - n * interval '1 second'), $2, 'ann@example.org', 'us@example.com', 'Hello',
					'TRANSACTIONAL', 'SENT', now() - n * interval '1 second'
				from generate_series(1, $3::int) n returning project_id, id, contact_id, sent_at
			)
			insert into events (project_id, name, contact_id, email_id, created_at)
			select project_id, 'email.sent', contact_id, id, sent_at from late`,
			[project.id, contactId, mails],
		)
		await pool.query('vacuum analyze emails, events')
		const counts: number[] = []
		for (const [name, values] of [
			['latest-events-named', [project.id, 50, 'email.sent']],
			['feed-page', [project.id, ['email.sent'], false, [], since, 'infinity', lastId, 50]],
			['event-fields', [project.id, 'email.sent']],
			['commonest-event-fields', [project.id]],
		] as const) {
			counts.push(await blocksReadBy(pool, name, values))
		}
		return counts
	}
	const few = await blocks(500)
	const many = await blocks(20_000)
	for (const [place, count] of many.entries())
		t.true(count < few[place]! * 2, `${few.join()} ${many.join()}`)
	t.is((await get<{ events: Listed[] }>('/events?eventName=email.sent')).events.length, 100)
})
