import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { until } from '../bench/load.ts'
import { runningStack } from './helpers/running-stack.ts'

const count = 300
const spreadMs = 6000

test.serial(
	'mails that are due while the API and the worker are killed all leave, once, and never early',
	async (t) => {
		const { stack, http } = await runningStack(t)
		const begins = Date.now() + 5000
		const messages = Array.from({ length: count }, (_, i) => ({
			to: `a${i}@example.org`,
			from: 'hello@example.com',
			subject: 'Hello',
			body: 'Hello',
			delivery: { at: new Date(begins + (i * spreadMs) / count) },
		}))
		for (let from = 0; from < count; from += 100) {
			const answer = await http.post('/v1/send/batch', messages.slice(from, from + 100))
			t.is(answer.status, 200, answer.body)
		}
		t.true(Date.now() < begins)
		await sleep(begins - Date.now())
		for (let round = 0; round < 3; round++)
			for (const service of [stack.worker, stack.api]) {
				await sleep(500)
				await service.stop('SIGKILL')
				await service.start()
			}
		const rows = (sql: string) => stack.orm.em.fork().execute<Record<string, number>[]>(sql)
		const settled = async () => {
			const [row] = await rows(`select count(*)::int as n from emails where status = 'SENT'`)
			return row!['n'] === count
		}
		t.true(await until(settled, 60_000, 200))
		const [figures] = await rows(`select (select count(*)::int from mailbox_messages) as arrived,
		(select count(*)::int from emails where sent_at < scheduled_for) as early,
		(select count(*)::int from scheduled_sends) as waiting`)
		t.deepEqual(figures, { arrived: count, early: 0, waiting: 0 })
	},
)
