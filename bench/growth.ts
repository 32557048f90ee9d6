import { poolOf } from '../db/statement.ts'
import type { Servers } from '../local/servers.ts'
import { seedRecipients } from './campaign/campaign-run.ts'
import { type Answer, client, percentile } from './load.ts'
import { prepareStack, type Stack } from './stack.ts'
import type { Row } from './table.ts'

const sizes = [1000, 10_000, 100_000, 1_000_000].filter(
	(size) => size <= Number(process.argv[3] ?? 1_000_000),
)
const times = 200
const atOnce = 50_000
/** The limit for a thousand times as much data. */
const mostTimesSlower = 2

type Http = ReturnType<typeof client>
interface Act {
	what: string
	do: (http: Http, i: number, size: number) => Promise<Answer>
	isPublic?: true
}

const recipient = (i: number, size: number) => `recipient-${1 + ((i * 7919) % size)}@example.org`

const acts: Act[] = [
	{
		what: 'POST /v1/send',
		do: (http, i, size) =>
			http.post('/v1/send', {
				to: recipient(i, size),
				from: 'app@example.com',
				subject: 'Your code',
				body: '<p>1234</p>',
			}),
	},
	{
		what: 'POST /v1/track',
		isPublic: true,
		do: (http, i, size) =>
			http.post('/v1/track', { email: recipient(i, size), event: `event ${i % 20}`, data: { i } }),
	},
	{
		what: 'POST /contacts, one that is there',
		do: (http, i, size) =>
			http.post('/contacts', { email: recipient(i, size), data: { plan: `plan ${i % 5}` } }),
	},
	{ what: 'GET /contacts, first page with its count', do: (http) => http.get('/contacts') },
	{
		what: 'GET /contacts?search, that finds few',
		do: (http, i, size) =>
			http.get(`/contacts?search=${encodeURIComponent(recipient(i, size).replace('@', '@ex'))}`),
	},
	{ what: 'GET /contacts/fields', do: (http) => http.get('/contacts/fields') },
	{ what: 'GET /emails, first page', do: (http) => http.get('/emails') },
	{ what: 'GET /activity, first page', do: (http) => http.get('/activity') },
	{ what: 'GET /analytics/timeseries', do: (http) => http.get('/analytics/timeseries') },
]

/**
 * npm run bench growth [contacts]: the cost of everyday requests with 1,000 contacts and mails, and with
 * ever more.
 */
export async function bench(servers: Servers): Promise<Row[]> {
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	const secret = client(stack.apiUrl, stack.secretKey, 1)
	const open = client(stack.apiUrl, stack.publicKey, 1)
	const took = new Map<Act, number[]>(acts.map((act) => [act, []]))
	const floors: number[] = []
	try {
		await stack.api.start()
		for (const size of sizes) {
			await seedRecipients(stack, size)
			await seedMails(stack, size)
			floors.push(await bareReads(stack, size))
			for (const act of acts)
				took.get(act)!.push(await median(act, act.isPublic ? open : secret, size))
		}
	} finally {
		for (const http of [secret, open]) http.close()
		await stack.stop()
	}
	return acts.map((act) => rowOf(act, took.get(act)!, floors))
}

async function median(act: Act, http: Http, size: number) {
	const all: number[] = []
	for (let i = 0; i < times; i++) {
		const { status, ms, body } = await act.do(http, i, size)
		if (status >= 300) throw new Error(`${act.what}: ${status} ${body}`)
		// The first ones plan their statements.
		if (i >= times / 10) all.push(ms)
	}
	return percentile(all, 0.5)
}

function rowOf({ what }: Act, took: number[], floors: number[]): Row {
	const slope = took.at(-1)! / took[0]!
	const inMs = (values: number[]) =>
		values.map((ms, i) => `${ms.toFixed(1)} ms with ${sizes[i]}`).join(', ')
	return {
		what: `${what}, p50`,
		reached: `${slope.toFixed(2)} times (${inMs(took)})`,
		target: `<= ${mostTimesSlower} times`,
		floor: `${(floors.at(-1)! / floors[0]!).toFixed(2)} times (a contact by its address)`,
		isMet: slope <= mostTimesSlower,
	}
}

async function bareReads({ orm, projectId }: Stack, size: number) {
	const pool = await poolOf(orm.em)
	const all: number[] = []
	for (let i = 0; i < times; i++) {
		const startedAt = performance.now()
		await pool.query({
			name: 'bare-contact',
			text: 'select id from contacts where project_id = $1 and email = $2',
			values: [projectId, recipient(i, size)],
		})
		all.push(performance.now() - startedAt)
	}
	return percentile(all, 0.5)
}

/** As many mails as contacts, sent over the last 90 days, each with its event. */
async function seedMails({ orm, projectId }: Stack, count: number) {
	const pool = await poolOf(orm.em)
	const { rows } = await pool.query<{ n: number }>(
		`select count(*)::int as n from emails where project_id = $1 and source_type = 'WORKFLOW'`,
		[projectId],
	)
	for (let from = rows[0]!.n; from < count; from += atOnce)
		await pool.query(
			`with sent as (
				insert into emails (project_id, id, contact_id, "to", "from", subject, source_type, status,
					attempt, created_at, updated_at, sent_at)
				select $1, uuidv7(age), c.id, c.email, 'app@example.com', 'News ' || i, 'WORKFLOW', 'SENT', 1,
					now() + age, now() + age, now() + age
				from generate_series($2::int, least($2 + ${atOnce}, $3::int) - 1) i
				cross join lateral (select (i - $3) * interval '90 days' / $3::float8 as age) a
				join contacts c on c.project_id = $1 and c.email = 'recipient-' || 1 + i || '@example.org'
				returning *
			)
			insert into events (project_id, id, created_at, name, contact_id, email_id)
			select project_id, uuidv7(created_at - now()), created_at, 'email.sent', contact_id, id from sent`,
			[projectId, from, count],
		)
	// Mails written one by one fold their tallies on the way; a few large statements don't.
	const hasTallies = 'select from mail_tallies where project_id = $1 limit 1'
	while ((await pool.query(hasTallies, [projectId])).rowCount)
		await pool.query('select fold_mail_tallies($1)', [projectId])
	const tables = ['emails', 'events', 'contacts', 'mail_tallies', 'mail_counts', 'event_tallies']
	for (const table of tables) await pool.query(`vacuum analyze ${table}`)
}
