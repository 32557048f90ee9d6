import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stopPostgres } from '../local/cluster.ts'
import { preparePostgres } from '../local/postgres.ts'
import { end } from '../local/processes.ts'
import type { Servers } from '../local/servers.ts'
import { prepareTemporal, stopTemporal } from '../local/temporal.ts'
import { resendFake } from '../test/helpers/resend-fake.ts'
import { drill, killWorker, tally, type Verdict } from './drill.ts'
import { client, until } from './load.ts'
import { type SinkProcess, startSink } from './sink.ts'
import { prepareStack, type Stack } from './stack.ts'

// What may go wrong around a send. Each scenario brings its own sink and processes, does harm, and
// returns what is left of the promises. The counts are small in tests and large in the benchmark.

/** Doubt is shown to last, but nobody waits ten minutes for it here. */
const shortDoubt = { UNCERTAIN_AFTER: '3s' }
/** Slow enough that a kill finds mails under way. */
const slowSink = ['--delay', '15']

export interface Size {
	sends: number
	kills: number
}

export async function workerKilledOverSmtp(servers: Servers, { sends, kills }: Size) {
	return withSink(servers, shortDoubt, slowSink, async (stack, sink) =>
		drill({
			stack,
			count: sends,
			perSecond: sends / (kills * 2.5),
			taken: async () => tally((await sink.mails()).map(({ emailId }) => emailId)),
			harm: killWorker(stack, kills, [200, 1500]),
			patienceMs: 180_000,
		}),
	)
}

export async function workerKilledOverResend(servers: Servers, { sends, kills }: Size) {
	const resend = await resendFake({ delayMs: 15 })
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'resend',
		RESEND_API_KEY: resend.apiKey,
		RESEND_BASE_URL: resend.url,
	})
	return during(
		stack,
		() => resend.close(),
		() =>
			drill({
				stack,
				count: sends,
				perSecond: sends / (kills * 2.5),
				taken: async () => tally(resend.accepted.map(({ emailId }) => emailId)),
				harm: killWorker(stack, kills, [200, 1500]),
				patienceMs: 180_000,
			}),
	)
}

/** Temporal goes away for so long while requests come in. */
export async function temporalStopped(servers: Servers, sends: number, seconds: number) {
	const folder = await mkdtemp(join(tmpdir(), 'tempost-drill-'))
	const temporal = await prepareTemporal({
		file: join(folder, 'temporal'),
		namespace: 'default',
		isDurable: false,
	})
	let server = temporal.launch()
	await temporal.ready(server)
	const away = { ...servers, temporalAddress: temporal.address }
	try {
		return await withSink(away, {}, [], async (stack, sink) =>
			drill({
				stack,
				count: sends,
				perSecond: sends / (seconds + 4),
				taken: async () => tally((await sink.mails()).map(({ emailId }) => emailId)),
				async harm() {
					await sleep(2000)
					await end(server.pid!, stopTemporal)
					await sleep(seconds * 1000)
					server = temporal.launch()
					await temporal.ready(server)
				},
			}),
		)
	} finally {
		await end(server.pid!, stopTemporal)
		await rm(folder, { recursive: true, force: true })
	}
}

/** Postgres is shut down at once, all connections cut, and comes back. */
export async function postgresRestarted(servers: Servers, sends: number, times: number) {
	const folder = await mkdtemp(join(tmpdir(), 'tempost-drill-'))
	await chmod(folder, 0o711) // Postgres' own user passes through it when we are root
	const postgres = await preparePostgres({
		folder: join(folder, 'postgres'),
		password: 'password',
		isDurable: true,
	})
	let server = postgres.launch()
	await postgres.ready(server)
	try {
		return await withSink(
			{ ...servers, databaseUrl: postgres.url },
			shortDoubt,
			[],
			(stack, sink) =>
				drill({
					stack,
					count: sends,
					perSecond: sends / (times * 4),
					taken: async () => tally((await sink.mails()).map(({ emailId }) => emailId)),
					async harm() {
						for (let i = 0; i < times; i++) {
							await sleep(1500)
							await end(server.pid!, stopPostgres)
							server = postgres.launch()
							await postgres.ready(server)
						}
					},
				}),
		)
	} finally {
		await end(server.pid!, stopPostgres)
		await rm(folder, { recursive: true, force: true })
	}
}

/** The API commits, cannot tell Temporal, and is killed: how long until the mail is there. */
export async function apiKilledAfterCommit(servers: Servers, times: number): Promise<number[]> {
	return withSink(servers, {}, [], async (stack, sink) => {
		const delays: number[] = []
		for (let i = 0; i < times; i++) {
			const http = client(stack.apiUrl, stack.secretKey, 1)
			const mail = { to: `kill-${i}@example.org`, from: 'drill@example.com' }
			const answered = http.post('/v1/send', { ...mail, subject: 'Drill', body: '<p>Hello</p>' })
			if (i % 2 === 0) await answered
			else await until(async () => (await countMails(stack)) > i, 5000, 1)
			const killedAt = Date.now()
			await stack.api.stop('SIGKILL')
			await answered
			await until(async () => (await sink.statistics()).accepted > i, 20_000, 5)
			delays.push(Date.now() - killedAt)
			http.close()
			await stack.api.start()
		}
		return delays
	})
}

async function countMails({ orm }: Stack) {
	const [row] = await orm.em
		.fork()
		.execute<{ n: number }[]>('select count(*)::int as n from emails')
	return row!.n
}

async function withSink<T>(
	servers: Pick<Servers, 'databaseUrl' | 'temporalAddress'>,
	env: Record<string, string>,
	sinkOptions: string[],
	run: (stack: Stack, sink: SinkProcess) => Promise<T>,
) {
	const sink = await startSink(sinkOptions)
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		...env,
	})
	return during(
		stack,
		() => sink.close(),
		() => run(stack, sink),
	)
}

async function during<T>(stack: Stack, close: () => Promise<void>, run: () => Promise<T>) {
	try {
		await stack.api.start()
		await stack.worker.start()
		return await run()
	} finally {
		await stack.stop()
		await close()
	}
}

export type { Verdict }
