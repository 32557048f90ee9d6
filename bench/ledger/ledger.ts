import type { Servers } from '../../local/servers.ts'
import { splitIntoMonths } from '../../test/helpers/months.ts'
import { poolOf } from '../../db/statement.ts'
import { runCampaign, seedRecipients } from '../campaign/campaign-run.ts'
import { median } from '../load.ts'
import { startSink } from '../sink.ts'
import { prepareStack } from '../stack.ts'
import type { Row } from '../table.ts'
import { removal } from './ledger-removal.ts'
import { seedOlderMails } from './ledger-seed.ts'

/**
 * npm run bench ledger [older mails] [recipients]: a campaign beside the mails of a year, and the removal of the
 * largest month. The promises are for 50,000,000 older mails, which take some 40 GB for the time of the run.
 */
const wanted = Number(process.argv[3] ?? 50_000_000)
const recipients = Number(process.argv[4] ?? 40_000)
const rounds = 3
const mostSlowerPercent = 10

export async function bench(servers: Servers): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	try {
		const pool = await poolOf(stack.orm.em)
		await splitIntoMonths(pool)
		await stack.api.start()
		await stack.worker.start()
		await seedRecipients(stack, recipients)
		const rate = async () => {
			await pool.query('checkpoint')
			const rates: number[] = []
			for (let round = 0; round < rounds; round++)
				rates.push((await runCampaign(stack, sink, servers.temporalAddress, recipients)).perSecond)
			console.log(`campaigns at ${rates.map((one) => one.toFixed(0)).join(', ')} mails/s`)
			return median(rates)
		}
		await runCampaign(stack, sink, servers.temporalAddress, recipients) // warms every process up
		const without = await rate()
		const { mails, isLess, inBigMonth, bytesPerMail } = await seedOlderMails(
			pool,
			wanted,
			recipients,
		)
		const withThem = await rate()

		const slowerPercent = (1 - withThem / without) * 100
		const less = isLess ? ` (the disk has no room for ${wanted})` : ''
		return [
			{
				what: `${recipients} recipients beside ${mails} older mails${less}, ${inBigMonth} of them in one month, median of ${rounds}`,
				reached: `${withThem.toFixed(0)} mails/s, ${slowerPercent.toFixed(0)} % slower`,
				target: `<= ${mostSlowerPercent} % slower`,
				floor: `${without.toFixed(0)}/s without them`,
				isMet: slowerPercent <= mostSlowerPercent,
			},
			...(await removal(stack, { inBigMonth, bytesPerMail })),
		]
	} finally {
		await stack.stop()
		await sink.close()
	}
}
