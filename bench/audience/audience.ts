import type { Servers } from '../../local/servers.ts'
import { prepareStack, type Stack } from '../stack.ts'
import { printTable, type Row } from '../table.ts'
import { jobs } from './audience-jobs.ts'
import { lists } from './audience-lists.ts'
import { seedContacts } from './audience-seed.ts'
import { segments } from './audience-segments.ts'
import { track } from './audience-track.ts'

/** npm run bench audience [contacts]: fewer for a quick look; the promises are for a million. */
const contacts = Number(process.argv[3] ?? 1_000_000)
const few = Math.min(contacts, 100_000)

/** Requests for a project with this many contacts, each compared with the bare query in the same run. */
export async function bench(servers: Servers): Promise<Row[]> {
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	const parts: [string, (stack: Stack) => Promise<Row[]>][] = [
		[`seeding of ${few} contacts`, () => seedContacts(stack, 1, few)],
		[`jobs among ${few} contacts`, () => jobs(stack, few, 20_000)],
		[`seeding of ${contacts} contacts`, () => seedContacts(stack, few + 1, contacts)],
		[`lists of ${contacts} contacts`, () => lists(stack, contacts)],
		[`tracking among ${contacts} contacts`, track],
		[`a segment among ${contacts} contacts`, () => segments(stack, contacts)],
		[`jobs among ${contacts} contacts`, () => jobs(stack, contacts, 12_000)],
	]
	try {
		await stack.api.start()
		await stack.worker.start()
		const all: Row[] = []
		for (const [name, measure] of parts) {
			const rows = await measure(stack)
			if (rows.length > 0) printTable(name, rows)
			all.push(...rows)
		}
		return all
	} finally {
		await stack.stop()
	}
}
