import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import { client } from '../load.ts'
import { ask, type Question } from '../questions.ts'
import { prepareStack } from '../stack.ts'
import { printTable, type Row } from '../table.ts'
import { seedAnalytics } from './analytics-seed.ts'

/** npm run bench analytics [mails]: fewer for a quick look; the promises are for ten million. */
const mails = Number(process.argv[3] ?? 10_000_000)

const timesIfLong = 50
const dayMs = 86_400_000
const dayBefore = (count: number) => new Date(Date.now() - count * dayMs).toISOString().slice(0, 10)

/** A dashboard's requests for a project with this many mails, each compared with the bare query. */
export async function bench(servers: Servers): Promise<Row[]> {
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	const pool = await poolOf(stack.orm.em)
	const http = client(stack.apiUrl, stack.secretKey, 1)
	try {
		await stack.api.start()
		printTable(
			`seeding of ${mails} mails' worth`,
			await seedAnalytics(pool, stack.projectId, mails),
		)
		const { rows } = await pool.query<{ id: string }>(
			'select contact_id as id from events where project_id = $1 order by id desc limit 200',
			[stack.projectId],
		)
		const contacts = rows.map(({ id }) => id)
		return await ask(stack, http, [
			...feedQuestions(contacts, await cursors(http)),
			...dayQuestions,
		])
	} finally {
		http.close()
		await stack.stop()
	}
}

const aPage: Question['floor'] = [
	'select * from events where project_id = $1 order by id desc limit 21',
]
const aCount: Question['floor'] = ['select sum(sent) from mail_counts where project_id = $1']

const feedQuestions = (contacts: string[], pages: string[]): Question[] => [
	{
		what: 'first page of the feed with its total',
		mostMs: 50,
		path: (i) => `/activity?limit=${20 + (i % 80)}`,
		floor: aPage,
	},
	{
		what: 'a page further on',
		mostMs: 50,
		path: (i) => `/activity?cursor=${pages[i % pages.length]}`,
		floor: aPage,
	},
	{
		what: 'first page of some types with its total',
		mostMs: 50,
		path: (i) =>
			`/activity?types=${['event.triggered', 'email.opened,email.clicked', 'workflow.started', 'campaign.sent'][i % 4]}`,
		floor: aPage,
	},
	{
		what: 'first page of a contact with its total',
		mostMs: 50,
		path: (i) => `/activity?contactId=${contacts[i % contacts.length]}`,
		floor: aPage,
	},
	{
		what: 'first page since a moment 80 days ago with its total',
		mostMs: 300,
		times: timesIfLong,
		path: (i) => `/activity?startDate=${dayBefore(80)}T${10 + (i % 10)}:07:03Z`,
		floor: aPage,
	},
	{
		what: 'stats of the feed',
		mostMs: 100,
		path: () => '/activity/stats',
		floor: aCount,
	},
	{
		what: 'count of the last hour',
		mostMs: 100,
		path: (i) => `/activity/recent-count?minutes=${1 + (i % 60)}`,
		floor: aCount,
	},
	{
		what: 'what is to come',
		mostMs: 100,
		path: (i) => `/activity/upcoming?limit=${20 + (i % 80)}`,
		floor: ['select * from executions where project_id = $1 limit 20'],
	},
]

const dayQuestions: Question[] = [
	{
		what: 'timeseries of 90 days',
		mostMs: 100,
		path: (i) =>
			`/analytics/timeseries?startDate=${dayBefore(89)}&tz=${['UTC', 'Asia/Kolkata', 'America/New_York'][i % 3]}`,
		floor: aCount,
	},
	{
		what: 'top campaigns',
		mostMs: 100,
		path: (i) => `/analytics/top-campaigns?metric=${['opened', 'clicked', 'sent'][i % 3]}`,
		floor: aCount,
	},
	{
		what: 'figures of campaigns',
		mostMs: 100,
		path: () => '/analytics/campaign-stats',
		floor: aCount,
	},
	{
		what: 'top events of days far from UTC, with their trends',
		mostMs: 100,
		path: () => '/analytics/top-events?tz=Asia/Tokyo',
		floor: aCount,
	},
]

/** The cursors of the following pages. */
async function cursors(http: ReturnType<typeof client>) {
	const found: string[] = []
	for (let cursor = ''; found.length < 50;) {
		const { body } = await http.get(`/activity?limit=100${cursor && `&cursor=${cursor}`}`)
		cursor = JSON.parse(body).cursor ?? ''
		if (cursor === '') break
		found.push(cursor)
	}
	return found
}
