import { setTimeout as sleep } from 'node:timers/promises'
import { Domain } from '../../db/domains/domain.ts'
import { newKeys } from '../../db/projects/project-keys.ts'
import { Project } from '../../db/projects/project.ts'
import type { Servers } from '../../local/servers.ts'
import { client, median, percentile, until } from '../load.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { readers } from './campaign-readers.ts'
import {
	api,
	createCampaign,
	ended,
	limitRate,
	progressOf,
	seedRecipients,
	sendCampaign,
} from './campaign-run.ts'

const singleSends = 300
const gapMs = 30
const settleMs = 2000
const rounds = 5
const mostTimes = 2
/** Mails a second; 0: as fast as they go. */
const campaignRates = [1000, 0]
const secret = 'a secret of the benchmark, known to it'

/** How a campaign affects other mail, and how a campaign's readers affect another campaign. */
export async function beside(servers: Servers, recipients: number): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		SESSION_SECRET: secret,
	})
	try {
		await stack.api.start()
		await stack.worker.start()
		await seedRecipients(stack, recipients)
		const neighbour = await otherProject(stack)
		return [
			...(await single(stack, sink, neighbour, recipients)),
			...(await readers(stack, sink, { recipients, secret })),
		]
	} finally {
		await stack.stop()
		await sink.close()
	}
}

/** Single mails of another project: alone, beside a throttled campaign and beside one that is not, in turn. */
async function single(
	stack: Stack,
	sink: SinkProcess,
	neighbour: { secretKey: string },
	recipients: number,
): Promise<Row[]> {
	await delays(stack, sink, neighbour) // warm
	const alone: number[] = []
	const beside = new Map(
		campaignRates.map((rate) => [rate, { p99s: [] as number[], least: singleSends }]),
	)
	for (let round = 0; round < rounds; round++) {
		await sink.forget()
		alone.push(percentile(await delays(stack, sink, neighbour), 0.99))
		for (const [rate, measured] of beside) {
			const all = await delaysBeside(stack, sink, neighbour, { rate, recipients })
			measured.p99s.push(percentile(all, 0.99))
			measured.least = Math.min(measured.least, all.length)
		}
	}
	const floor = median(alone)
	return [...beside].map(([rate, { p99s, least }]) => ({
		what: `/v1/send to sink, p99 of ${least}, beside a campaign ${rate ? `at ${rate} mails/s` : 'unthrottled'}, median of ${rounds}`,
		reached: `${median(p99s)} ms, ${(median(p99s) / floor).toFixed(1)} times`,
		target: `<= ${mostTimes} times alone`,
		floor: `${floor} ms alone`,
		isMet: least > 0 && median(p99s) <= mostTimes * floor,
	}))
}

/** Only while the campaign's mails arrive, so there are fewer if it is short. */
async function delaysBeside(
	stack: Stack,
	sink: SinkProcess,
	neighbour: { secretKey: string },
	{ rate, recipients }: { rate: number; recipients: number },
) {
	await sink.forget()
	await limitRate(stack, rate)
	const id = await createCampaign(stack)
	await sendCampaign(stack, id)
	const accepted = async () => (await sink.statistics()).accepted
	const first = Math.min(500, recipients / 10)
	if (!(await until(async () => (await accepted()) >= first, 120_000, 10)))
		throw new Error('The campaign does not start')
	let isOver = false
	const watching = until(async () => (isOver ||= (await accepted()) >= recipients), 600_000, 100)
	const all = await delays(stack, sink, neighbour, () => !isOver)
	isOver = true
	await watching
	if (rate && (await progressOf(stack, id)).sent < recipients) {
		await api(stack, 'POST', `/campaigns/${id}/cancel`)
		await ended(stack, id, 'CANCELLED')
	} else await ended(stack, id)
	return all
}

let sends = 0

async function delays(
	{ apiUrl }: Stack,
	sink: SinkProcess,
	{ secretKey }: { secretKey: string },
	more = () => true,
) {
	const http = client(apiUrl, secretKey, 8)
	const begun = new Map<string, number>()
	const asked: Promise<unknown>[] = []
	for (let i = 0; i < singleSends && more(); i++) {
		const at = Date.now()
		asked.push(
			http
				.post('/v1/send', {
					to: `single-${sends++}@example.org`,
					from: 'app@neighbour.example',
					subject: 'Your code',
					body: '<p>1234</p>',
				})
				.then(({ body }) => begun.set(JSON.parse(body).data.emails[0].email, at)),
		)
		await sleep(gapMs)
	}
	await Promise.all(asked)
	http.close()
	// Listing all its mails would delay the sink, so this waits for the last mail first.
	await sleep(settleMs)
	const arrived = new Map<string, number>()
	let seen = 0
	await until(
		async () => {
			const more = await sink.mails(seen)
			seen += more.length
			for (const { emailId, at } of more) arrived.set(emailId, at)
			return [...begun.keys()].every((id) => arrived.has(id))
		},
		60_000,
		500,
	)
	return [...begun].map(([id, at]) => (arrived.get(id) ?? Number.POSITIVE_INFINITY) - at)
}

async function otherProject({ orm }: Stack) {
	const { secretKey, columns } = newKeys()
	const em = orm.em.fork()
	const project = em.create(Project, { name: 'Neighbour', ...columns })
	await em.flush()
	em.create(Domain, {
		projectId: project.id,
		domain: 'neighbour.example',
		verifiedAt: new Date(),
		sweepExempt: true,
	})
	await em.flush()
	return { secretKey }
}
