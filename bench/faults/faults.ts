import { durationMs } from '../../db/environment.ts'
import type { Servers } from '../../local/servers.ts'
import type { Row } from '../table.ts'
import { apiKilledAfterCommit } from './fault-dispatch.ts'
import { drill } from './fault-drill.ts'
import { resendProvider, smtpProvider } from './fault-provider.ts'

const providers = { SMTP: smtpProvider, Resend: resendProvider }

/**
 * The promises under faults: `npm run bench faults -- 30m 7` drills for half an hour (by default four
 * minutes) with the seed 7 (by default random). A short drill is part of `npm test`.
 */
export async function bench(servers: Servers): Promise<Row[]> {
	const [duration = '4m', given] = process.argv.slice(3)
	const seconds = durationMs(duration) / 1000 / Object.keys(providers).length
	const seed = given === undefined ? Math.floor(Math.random() * 1e6) : Number(given)
	const rows: Row[] = []
	for (const [name, provider] of Object.entries(providers)) {
		console.log(`${name}, seed ${seed}`)
		const verdict = await drill({
			provider,
			seed,
			seconds,
			longestMs: 12_000,
			recipients: 2000,
			rows: 5000,
			patienceMs: 90_000,
			withDisk: true,
			log: (line) => console.log(line),
		})
		const { accepted, mails, lost, repeated, repeatedAndMarked, uncertain } = verdict
		const { stuck, miscounted, refused } = verdict
		rows.push({
			what: `everything harmed for ${seconds} s under mixed load, ${name}, seed ${seed}`,
			reached:
				`accepted ${accepted}, mails ${mails}, lost ${lost}, repeated ${repeated} ` +
				`(and marked ${repeatedAndMarked}), uncertain ${uncertain}, stuck ${stuck}, ` +
				`miscounted ${miscounted}, refused without need ${refused}`,
			target: 'all 0 but what is marked or UNCERTAIN',
			floor: '',
			isMet: verdict.findings.length === 0,
		})
	}
	const slowest = Math.max(...(await apiKilledAfterCommit(servers, 10)))
	rows.push({
		what: 'API killed between commit and dispatch, 10 times',
		reached: `delivered within ${slowest} ms`,
		target: '<= 3,000 ms',
		floor: '',
		isMet: slowest <= 3000,
	})
	return rows
}
