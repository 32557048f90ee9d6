import type { Servers } from '../local/servers.ts'
import * as scenarios from './scenarios.ts'
import type { Row } from './table.ts'

/** The promises under fire, in full. The same scenarios run small in `npm test`. */
export async function bench(servers: Servers): Promise<Row[]> {
	const smtp = await scenarios.workerKilledOverSmtp(servers, { sends: 3000, kills: 20 })
	const resend = await scenarios.workerKilledOverResend(servers, { sends: 3000, kills: 20 })
	const temporal = await scenarios.temporalStopped(servers, 500, 15)
	const postgres = await scenarios.postgresRestarted(servers, 1000, 5)
	const delays = await scenarios.apiKilledAfterCommit(servers, 10)
	const slowest = Math.max(...delays)
	const rows: Row[] = [
		{
			what: 'worker killed 20 times during 3,000 sends, SMTP',
			reached: inWords(smtp),
			target: 'lost 0; repeats <= doubted, all marked',
			floor: '',
			isMet:
				isWhole(smtp) && smtp.repeated <= smtp.doubted && smtp.repeated === smtp.repeatedAndMarked,
		},
		{
			what: 'the same, Resend fake',
			reached: inWords(resend),
			target: 'lost 0, accepted twice 0',
			floor: '',
			isMet: isWhole(resend) && resend.repeated === 0,
		},
		{
			what: 'Temporal stopped for 15 s during 500 sends',
			reached: inWords(temporal),
			target: 'all answered 2xx, all delivered once',
			floor: '',
			isMet: isWhole(temporal) && temporal.refused === 0 && temporal.repeated === 0,
		},
		{
			what: 'Postgres restarted 5 times during 1,000 sends',
			reached: inWords(postgres),
			target: '503 or success, never half done',
			floor: '',
			isMet:
				isWhole(postgres) &&
				postgres.halfDone === 0 &&
				postgres.repeated === postgres.repeatedAndMarked,
		},
		{
			what: 'API killed between commit and dispatch, 10 times',
			reached: `delivered within ${slowest} ms`,
			target: '<= 3,000 ms',
			floor: '',
			isMet: slowest <= 3000,
		},
	]
	return rows
}

const isWhole = ({ lost, open }: scenarios.Verdict) => lost === 0 && open === 0

const inWords = (verdict: scenarios.Verdict) =>
	`accepted ${verdict.accepted}, refused ${verdict.refused}, lost ${verdict.lost}, ` +
	`repeated ${verdict.repeated} (marked ${verdict.repeatedAndMarked}), ` +
	`doubted ${verdict.doubted}, open ${verdict.open}`
