import type { Servers } from '../../local/servers.ts'
import { client, until } from '../load.ts'
import { startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'

/** The API commits, can't reach Temporal, and is killed: measures the time until the mail arrives. */
export async function apiKilledAfterCommit(
	servers: Pick<Servers, 'databaseUrl' | 'temporalAddress'>,
	times: number,
): Promise<number[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	try {
		await stack.api.start()
		await stack.worker.start()
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
	} finally {
		await stack.stop()
		await sink.close()
	}
}

async function countMails({ orm }: Stack) {
	const [row] = await orm.em
		.fork()
		.execute<{ n: number }[]>('select count(*)::int as n from emails')
	return row!.n
}
