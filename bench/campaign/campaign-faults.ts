import { setTimeout as sleep } from 'node:timers/promises'
import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import { resendFake } from '../../test/helpers/resend-fake.ts'
import { atRest } from '../at-rest.ts'
import { killWorker, tally } from '../drill.ts'
import { median, until } from '../load.ts'
import { startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import {
	api,
	createCampaign,
	ended,
	progressOf,
	seedRecipients,
	sendCampaign,
} from './campaign-run.ts'

const rounds = 3

/** Campaigns that are paused, cancelled, and whose workers are killed repeatedly. */
export async function faults(servers: Servers, mails: number, kills = 20): Promise<Row[]> {
	return [
		...(await stops(servers, mails)),
		await killed(servers, mails, kills, 'SMTP'),
		await killed(servers, mails, kills, 'Resend fake'),
	]
}

async function stops(servers: Servers, mails: number): Promise<Row[]> {
	const sink = await startSink(['--delay', '5'])
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	try {
		await stack.api.start()
		await stack.worker.start()
		await seedRecipients(stack, mails)
		const after: Record<'pause' | 'cancel', number[]> = { pause: [], cancel: [] }
		for (const word of ['pause', 'cancel'] as const)
			for (let round = 0; round < rounds; round++) {
				await sink.forget()
				const id = await createCampaign(stack)
				await sendCampaign(stack, id)
				await until(async () => (await sink.statistics()).accepted > mails / 10, 60_000, 5)
				await api(stack, 'POST', `/campaigns/${id}/${word}`)
				const saidAt = Date.now()
				await sleep(3000)
				const { lastAt, accepted } = await sink.statistics()
				if (accepted >= mails) throw new Error('all had been sent before it was stopped')
				after[word].push(Math.max(0, lastAt - saidAt))
				if (word === 'pause') await api(stack, 'POST', `/campaigns/${id}/cancel`)
				await ended(stack, id, 'CANCELLED')
				await until(async () => (await progressOf(stack, id)).pending === 0, 60_000)
			}
		return (['pause', 'cancel'] as const).map((word) => ({
			what: `${word}: last mail after the answer, worst of ${rounds}`,
			reached: `${Math.max(...after[word])} ms (median ${median(after[word])} ms)`,
			target: '<= 2,000 ms',
			floor: '',
			isMet: Math.max(...after[word]) <= 2000,
		}))
	} finally {
		await stack.stop()
		await sink.close()
	}
}

async function killed(
	servers: Servers,
	mails: number,
	kills: number,
	how: 'SMTP' | 'Resend fake',
): Promise<Row> {
	const sink = await startSink(['--delay', '20'])
	const resend = await resendFake({ delayMs: 40 })
	const stack = await prepareStack(
		servers,
		how === 'SMTP'
			? { EMAIL_PROVIDER: 'smtp', SMTP_URL: `${sink.url}?pool=10` }
			: {
					EMAIL_PROVIDER: 'resend',
					RESEND_API_KEY: resend.apiKey,
					RESEND_BASE_URL: resend.url,
				},
	)
	try {
		await stack.api.start()
		await stack.worker.start()
		await seedRecipients(stack, mails)
		const id = await createCampaign(stack)
		await sendCampaign(stack, id)
		await killWorker(stack, kills, [200, 1200])()
		await ended(stack, id)
		const takenIds = async () =>
			how === 'SMTP'
				? (await sink.mails()).map(({ emailId }) => emailId)
				: resend.accepted.map(({ emailId }) => emailId)
		const verdict = await judge(stack, id, takenIds)
		const { lost, repeated, uncertain, sent } = verdict
		const isWhole = lost === 0 && sent + uncertain === mails
		return {
			what: `worker killed ${kills} times during ${mails} mails, ${how}`,
			reached: `lost ${lost}, repeated ${repeated}, UNCERTAIN ${uncertain}`,
			target: how === 'SMTP' ? 'lost 0, repeated <= UNCERTAIN' : 'lost 0, repeated 0, UNCERTAIN 0',
			floor: '',
			isMet: isWhole && repeated <= (how === 'SMTP' ? uncertain : 0),
		}
	} finally {
		await stack.stop()
		await resend.close()
		await sink.close()
	}
}

/** An independent check of the ledger at rest, and then of the provider. */
async function judge({ orm }: Stack, id: string, takenIds: () => Promise<Iterable<string | null>>) {
	const pool = await poolOf(orm.em)
	await atRest(pool, 60_000)
	const { rows } = await pool.query<{ id: string; status: string }>(
		'select id, status from emails where campaign_id = $1',
		[id],
	)
	const taken = tally(await takenIds())
	return {
		lost: rows.filter(({ id: mail, status }) => status === 'SENT' && !taken.has(mail)).length,
		sent: rows.filter(({ status }) => status === 'SENT').length,
		uncertain: rows.filter(({ status }) => status === 'UNCERTAIN').length,
		repeated: [...taken.values()].reduce((sum, times) => sum + times - 1, 0),
	}
}
