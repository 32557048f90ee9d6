import type { Page, Request } from 'playwright-core'
import { pages } from '../../console/shell/pages.ts'
import { api } from '../campaign/campaign-run.ts'
import { percentile } from '../load.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { addressOf, openPage, type Visit } from './console-person.ts'

const times = 20
const mostMs = 300

interface Asked {
	route: string
	ms: number
}

/** Each page many times: how long the API takes for its slowest request. */
export async function views(visit: Visit): Promise<Row[]> {
	const { page, close } = await openPage(visit)
	const rows: Row[] = []
	try {
		for (const { name, path } of await viewsOf(visit.stack)) {
			const slowest: Asked[] = []
			for (let i = 0; i < times; i++) {
				const asked = await requestsOf(page, () => page.goto(addressOf(visit.stack, path)))
				const [most] = asked.toSorted((one, other) => other.ms - one.ms)
				if (most) slowest.push(most)
			}
			rows.push(rowOf(name, slowest))
		}
		return rows
	} finally {
		await close()
	}
}

/** The pages of the navigation, and one of each record. */
async function viewsOf(stack: Stack) {
	const first = async (path: string) => {
		const { data } = await api<{ data: { id: string }[] }>(stack, 'GET', `${path}?limit=1`)
		return data[0]!.id
	}
	return [
		...pages.flatMap((page) => (page ? [{ name: page.name, path: page.path }] : [])),
		{ name: 'Emails: an address', path: 'emails?search=recipient-7@example.org' },
		{ name: 'Emails: words', path: 'emails?search=news' },
		{ name: 'Emails: a status', path: 'emails?status=FAILED' },
		{ name: 'One email', path: `emails/${await first('/emails')}` },
		{ name: 'Contacts: a search', path: 'contacts?search=contact-77' },
		{ name: 'One contact', path: `contacts/${await first('/contacts')}` },
		{ name: 'One campaign', path: `campaigns/${await first('/campaigns')}` },
	]
}

/** All requests to the API until the page is quiet. */
async function requestsOf(page: Page, act: () => Promise<unknown>) {
	const asked: Asked[] = []
	const finished = (request: Request) => {
		const { pathname } = new URL(request.url())
		const { responseEnd, requestStart } = request.timing()
		if (!pathname.startsWith('/console/') && pathname !== '/')
			asked.push({ route: pathname, ms: responseEnd - requestStart })
	}
	page.on('requestfinished', finished)
	await act()
	await page.getByRole('heading', { level: 1 }).waitFor()
	await page.waitForLoadState('networkidle')
	page.off('requestfinished', finished)
	return asked
}

function rowOf(name: string, slowest: Asked[]): Row {
	const p95 = percentile(
		slowest.map(({ ms }) => ms),
		0.95,
	)
	const route = slowest.toSorted((one, other) => other.ms - one.ms)[0]?.route ?? 'nothing asked'
	return {
		what: `${name}: its slowest request (${route.replaceAll(/[0-9a-f-]{36}/g, 'ID')}), p95`,
		reached: `${p95.toFixed(0)} ms`,
		target: `<= ${mostMs} ms`,
		floor: '',
		isMet: p95 <= mostMs,
	}
}
