// npm run bench [name]: what we promise about speed and faults, measured. Writes nothing here.
import { withServers } from '../local/servers.ts'

const benches = {
	analytics: async () => (await import('./analytics.ts')).bench,
	audience: async () => (await import('./audience.ts')).bench,
	automations: async () => (await import('./automations.ts')).bench,
	campaign: async () => (await import('./campaign.ts')).bench,
	send: async () => (await import('./send.ts')).bench,
	faults: async () => (await import('./faults.ts')).bench,
}
const wanted = process.argv[2] ? [process.argv[2]] : Object.keys(benches)

for (const name of wanted) {
	const load = benches[name as keyof typeof benches]
	if (!load) {
		console.error(`There is no benchmark ${name}. There are: ${Object.keys(benches).join(', ')}`)
		process.exit(1)
	}
	const bench = await load()
	const isMet = await withServers((servers) => bench(servers), { isDurable: true })
	if (!isMet) process.exitCode = 1
}
