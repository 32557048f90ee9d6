import type { Servers } from '../../local/servers.ts'
import { splitIntoMonths } from '../../test/helpers/months.ts'
import { poolOf } from '../../db/statement.ts'
import { runCampaign, seedRecipients } from '../campaign/campaign-run.ts'
import { median } from '../load.ts'
import { startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { removal } from './ledger-removal.ts'
import { seedOlderMails } from './ledger-seed.ts'

/**
 * npm run bench ledger [older mails] [recipients]: a campaign beside the mails of a year, and the removal of the
 * largest month. The promises are for 50,000,000 older mails, which take some 40 GB for the time of the run.
 */
const wanted = Number(process.argv[3] ?? 50_000_000)
const recipients = Number(process.argv[4] ?? 40_000)
const rounds = 5
const mostSlowerPercent = 10

export async function bench(servers: Servers): Promise<Row[]> {
	const sink = await startSink()
	const env = { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url }
	// One stays without older mails. Both are equally warm, and a slow time of the machine is one for both.
	const young = await prepareStack(servers, env)
	const old = await prepareStack(servers, env)
	try {
		for (const stack of [young, old]) {
			await splitIntoMonths(await poolOf(stack.orm.em))
			await stack.api.start()
			await stack.worker.start()
			await seedRecipients(stack, recipients)
		}
		const rateOf = async (stack: Stack) =>
			(await runCampaign(stack, sink, servers.temporalAddress, recipients)).perSecond
		// Warms every process up. The older mails are like those of this campaign.
		for (const stack of [young, old]) await rateOf(stack)
		const pool = await poolOf(old.orm.em)
		const { mails, isLess, inBigMonth, bytesPerMail } = await seedOlderMails(
			pool,
			wanted,
			recipients,
		)
		await pool.query('checkpoint')
		for (const stack of [young, old]) await rateOf(stack)
		const rates: { without: number; withThem: number }[] = []
		for (let round = 0; round < rounds; round++) {
			const measured = new Map<Stack, number>()
			for (const stack of round % 2 === 0 ? [young, old] : [old, young])
				measured.set(stack, await rateOf(stack))
			rates.push({ without: measured.get(young)!, withThem: measured.get(old)! })
		}
		for (const { without, withThem } of rates)
			console.log(
				`${withThem.toFixed(0)} mails/s beside older mails, ${without.toFixed(0)} without`,
			)

		const slowerPercent =
			(1 - median(rates.map(({ without, withThem }) => withThem / without))) * 100
		const less = isLess ? ` (the disk has no room for ${wanted})` : ''
		return [
			{
				what: `${recipients} recipients beside ${mails} older mails${less}, ${inBigMonth} of them in one month, median of ${rounds} pairs`,
				reached: `${median(rates.map(({ withThem }) => withThem)).toFixed(0)} mails/s, ${slowerPercent.toFixed(0)} % slower`,
				target: `<= ${mostSlowerPercent} % slower`,
				floor: `${median(rates.map(({ without }) => without)).toFixed(0)}/s without them`,
				isMet: slowerPercent <= mostSlowerPercent,
			},
			...(await removal(old, { inBigMonth, bytesPerMail })),
		]
	} finally {
		await Promise.all([young.stop(), old.stop()])
		await sink.close()
	}
}
