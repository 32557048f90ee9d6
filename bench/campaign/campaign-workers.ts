import type { Servers } from '../../local/servers.ts'
import { cpuSeconds } from '../cpu.ts'
import { median } from '../load.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Service, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { limitRate, runCampaign, seedRecipients } from './campaign-run.ts'

const rounds = 3
/** Enough for four lanes, which the workers share: see db/campaigns/audience-pages.ts. */
const mostMails = 10_000
const delayMs = 50
const connections = 10
const leastTimes = 1.7
const limit = 400
const limitedSeconds = 30
const mostOffPercent = 1

/** Two workers send one campaign. */
export async function workers(servers: Servers, recipients: number): Promise<Row[]> {
	return [
		await besideOne(servers, Math.min(mostMails, recipients)),
		await limited(servers, Math.min(limit * limitedSeconds, recipients)),
	]
}

/** The mail server is what a worker waits for, so that there are cores enough for two. */
async function besideOne(servers: Servers, count: number): Promise<Row> {
	const sink = await startSink(['--delay', String(delayMs)])
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: `${sink.url}?pool=${connections}`,
	})
	try {
		const second = await started(stack, count)
		const rate = async () =>
			(await runCampaign(stack, sink, servers.temporalAddress, count)).perSecond
		const one: number[] = []
		const two: number[] = []
		const shares: string[] = []
		for (let round = 0; round < rounds; round++) {
			one.push(await rate())
			await second.start()
			const share = shareOf(second, stack.worker)
			two.push(await rate())
			shares.push(share())
			await second.stop()
		}
		const times = median(two) / median(one)
		return {
			what: `${count} recipients, two workers, each with ${connections} connections to a server that takes ${delayMs} ms a mail, so that cores are not the limit`,
			reached: `${median(two).toFixed(0)} mails/s, ${times.toFixed(2)} times; CPU in the second one: ${shares.join(', ')}`,
			target: `>= ${leastTimes} times one worker`,
			floor: `${median(one).toFixed(0)}/s with one`,
			isMet: times >= leastTimes,
		}
	} finally {
		await stack.stop()
		await sink.close()
	}
}

async function limited(servers: Servers, count: number): Promise<Row> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	try {
		const second = await started(stack, count)
		await second.start()
		await limitRate(stack, limit)
		const share = shareOf(second, stack.worker)
		const { perSecond } = await runCampaign(stack, sink, servers.temporalAddress, count)
		const offPercent = (perSecond / limit - 1) * 100
		return {
			what: `${count} recipients, two workers and one limit of ${limit} mails/s`,
			reached: `${perSecond.toFixed(1)} mails/s, ${offPercent.toFixed(2)} % off, ${await mostInASecond(sink)} in the fullest second; CPU in the second one: ${share()}`,
			target: `<= ${mostOffPercent} % off`,
			floor: `${limit}/s, the limit`,
			isMet: Math.abs(offPercent) <= mostOffPercent,
		}
	} finally {
		await stack.stop()
		await sink.close()
	}
}

/** Returns the second worker, which is yet to be started. */
async function started(stack: Stack, count: number) {
	await stack.api.start()
	await stack.worker.start()
	await seedRecipients(stack, count)
	return stack.anotherWorker()
}

/** Its part of the CPU of both from now on: whether it takes part at all. */
function shareOf(one: Service, other: Service) {
	const [mine, others] = [cpuSeconds(one.pid()), cpuSeconds(other.pid())]
	return () => {
		const used = cpuSeconds(one.pid()) - mine
		const ofBoth = used + cpuSeconds(other.pid()) - others
		return `${((used / ofBoth) * 100).toFixed(0)} %`
	}
}

async function mostInASecond(sink: SinkProcess) {
	const times = (await sink.mails()).map(({ at }) => at)
	let first = 0
	return times.reduce((most, at, last) => {
		while (times[first]! <= at - 1000) first++
		return Math.max(most, last - first + 1)
	}, 0)
}
