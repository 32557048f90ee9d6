import { client } from '../load.ts'
import { ask, type Question, times } from '../questions.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'

const timesIfLong = 20

/** One reader at a time, like a dashboard: lists, searches, counts, fields and values. */
export async function lists(stack: Stack, contacts: number): Promise<Row[]> {
	const http = client(stack.apiUrl, stack.secretKey, 1)
	const all = `select count(*) from contacts where project_id = $1 and email like $2`
	const aPage =
		'select * from contacts where project_id = $1 and email > $2 order by email limit 20'
	const random = (i: number) => 1 + ((i * 7919) % contacts)
	const pages = await cursors(http, times)
	const questions: Question[] = [
		{
			what: 'first page with its count',
			mostMs: 50,
			path: (i) => `/contacts?limit=${20 + (i % 80)}`,
			floor: [aPage, 'contact'],
		},
		{
			what: 'first page of those who have not subscribed',
			mostMs: 50,
			path: (i) => `/contacts?subscribed=false&sort=${i % 2 ? 'email' : 'createdAt'}`,
			floor: [aPage, 'contact'],
		},
		{
			what: 'a page further on',
			mostMs: 50,
			path: (i) => `/contacts?cursor=${pages[i % pages.length]}`,
			floor: [aPage, 'contact-5'],
		},
		{
			what: 'search that finds one or some dozens, with its count',
			mostMs: 50,
			path: (i) => `/contacts?search=t-${random(i)}${i % 2 ? '%40' : ''}`,
			floor: [all, `%t-${random(7)}@%`],
		},
		{
			what: 'search that finds a tenth, with its count',
			mostMs: 400,
			times: timesIfLong,
			path: (i) => `/contacts?search=contact-${1 + (i % 9)}`,
			floor: [all, '%contact-1%'],
		},
		{
			what: 'search for one character that half of them have, with its count',
			mostMs: 400,
			times: timesIfLong,
			path: (i) => `/contacts?search=${i % 10}&sort=email`,
			floor: [all, '%5%'],
		},
		{
			what: 'search that finds all, with its count',
			mostMs: 400,
			times: timesIfLong,
			path: () => '/contacts?search=%40example.org',
			floor: [all, '%@example.org%'],
		},
		{
			what: 'fields',
			mostMs: 300,
			path: () => '/contacts/fields',
			floor: ['select 1 where $1::uuid is not null'],
		},
		{
			what: 'values of a field',
			mostMs: 300,
			path: (i) =>
				`/contacts/fields/${['plan', 'score', 'externalId', 'joined', `field${6 + (i % 25)}`][i % 5]}/values?limit=200`,
			floor: ['select 1 where $1::uuid is not null'],
		},
	]
	const rows = await ask(stack, http, questions)
	http.close()
	return rows
}

/** The cursors of the following pages. */
async function cursors(http: ReturnType<typeof client>, count: number) {
	const found: string[] = []
	for (let cursor = ''; found.length < count;) {
		const { body } = await http.get(`/contacts?limit=100${cursor && `&cursor=${cursor}`}`)
		cursor = JSON.parse(body).cursor ?? ''
		if (cursor === '') break
		found.push(cursor)
	}
	return found
}
