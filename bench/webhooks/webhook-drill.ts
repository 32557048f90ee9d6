import { setTimeout as sleep } from 'node:timers/promises'
import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import { api } from '../campaign/campaign-run.ts'
import { killWorker } from '../drill.ts'
import { until } from '../load.ts'
import { prepareStack } from '../stack.ts'
import { startReceiver } from './receiver.ts'

const eventsAtOnce = 200

/** Events arrive while the worker is killed again and again. */
export async function drillWebhooks(
	servers: Pick<Servers, 'databaseUrl' | 'temporalAddress'>,
	events: number,
	kills: number,
) {
	const receiver = await startReceiver()
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'local',
		ALLOW_PRIVATE_WEBHOOKS: 'true',
	})
	try {
		await stack.api.start()
		await stack.worker.start()
		await api(stack, 'POST', '/webhook-endpoints', { url: receiver.url, events: ['event.*'] })
		const pool = await poolOf(stack.orm.em)
		let isOver = false
		const happening = (async () => {
			for (let written = 0; written < events; written += eventsAtOnce) {
				await pool.query(
					`insert into events (project_id, name) select $1, 'drilled' from generate_series(1, $2::int)`,
					[stack.projectId, eventsAtOnce],
				)
				// Spread over the kills.
				if (!isOver) await sleep((kills * 1000 * eventsAtOnce) / events)
			}
		})()
		await killWorker(stack, kills, [200, 1200])()
		isOver = true
		await happening
		await until(async () => (await receiver.received()).distinct >= events, 90_000, 200)
		await until(async () => (await waiting()) === 0, 10_000, 200)
		const { requests, distinct } = await receiver.received()
		return {
			lost: events - distinct,
			repeated: requests - distinct,
			unsettled: await waiting(),
		}

		async function waiting() {
			const { rows } = await pool.query<{ count: number }>(
				`select count(*)::int from webhook_deliveries where status <> 'DELIVERED'`,
			)
			return rows[0]!.count
		}
	} finally {
		await stack.stop()
		await receiver.close()
	}
}
