// npm run bench [name]: measures our promises about speed and faults. Writes nothing into the repository.
import { type Servers, withServers } from '../local/servers.ts'
import { printTable, type Row } from './table.ts'

type Bench = (servers: Servers) => Promise<Row[]>

const benches: Record<string, () => Promise<Bench>> = {
	starts: async () => (await import('./starts.ts')).bench,
	rendering: async () => (await import('./rendering.ts')).bench,
	send: async () => (await import('./send.ts')).bench,
	scheduled: async () => (await import('./scheduled.ts')).bench,
	audience: async () => (await import('./audience/audience.ts')).bench,
	campaign: async () => (await import('./campaign/campaign.ts')).bench,
	automations: async () => (await import('./automations/automations.ts')).bench,
	analytics: async () => (await import('./analytics/analytics.ts')).bench,
	growth: async () => (await import('./growth.ts')).bench,
	ledger: async () => (await import('./ledger/ledger.ts')).bench,
	overload: async () => (await import('./overload.ts')).bench,
	console: async () => (await import('./console/console.ts')).bench,
	webhooks: async () => (await import('./webhooks/webhooks.ts')).bench,
	polling: async () => (await import('./console/console-polling.ts')).bench,
	faults: async () => (await import('./faults/faults.ts')).bench,
}
const wanted = process.argv[2] ? [process.argv[2]] : Object.keys(benches)
const all: Row[] = []

for (const name of wanted) {
	const load = benches[name]
	if (!load) {
		console.error(`There is no benchmark ${name}. There are: ${Object.keys(benches).join(', ')}`)
		process.exit(1)
	}
	const bench = await load()
	const rows = await withServers(
		(servers, signal) => Promise.race([bench(servers), whenAborted(signal)]),
		{ isDurable: true },
	)
	// The processes of an interrupted benchmark end with this one.
	if (!rows) process.exit(1)
	printTable(`npm run bench ${name}`, rows)
	all.push(...rows.map((row) => ({ ...row, what: `${name}: ${row.what}` })))
}
if (wanted.length > 1) printTable('npm run bench', all)
process.exitCode = all.every(({ isMet }) => isMet) ? 0 : 1

function whenAborted(signal: AbortSignal) {
	return new Promise<undefined>((done) => signal.addEventListener('abort', () => done(undefined)))
}
