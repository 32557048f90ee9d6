import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ExecutionContext } from 'ava'
import { createActivities } from '../../activities/index.ts'
import { startSink } from '../../bench/sink.ts'
import { createDomainChecker } from '../../outside/domains/checker.ts'
import type { Provider } from '../../outside/providers/provider.ts'
import { smtpProvider } from '../../outside/providers/smtp.ts'
import { createProject, testSettings } from './app.ts'
import { dnsServer } from './dns-server.ts'
import { setupExecutions } from './executions.ts'
import { largeCondition, largeData } from './largest.ts'
import { deliveryServices } from './ledger.ts'

/** Answers every request with five megabytes. A thread of its own: its time is not ours. */
const server = `
const { createServer } = require('node:http')
const answer = JSON.stringify({ text: '"\\u00fc" '.repeat(1_000_000) })
createServer((request, response) => {
	request.resume().on('end', () => response.end(answer))
}).listen(0, '127.0.0.1', function () {
	require('node:worker_threads').parentPort.postMessage(this.address().port)
})`

/** The largest condition, which everybody meets. */
export const everybody = {
	...largeCondition,
	groups: [
		...largeCondition.groups.slice(1),
		{ filters: [{ field: 'email', operator: 'contains', value: '@' }] },
	],
}

/** A project of 1,000 people, 100 of them with as much data as can be, and everything that a worker does. */
export async function setupLargeWork(t: ExecutionContext, count = 1000) {
	const context = await setupExecutions(t, {
		settings: { attachmentsMaxMb: 40, allowPrivateWebhooks: true },
	})
	const { orm, pool, project, select } = context
	const thread = new Worker(server, { eval: true })
	const [port] = (await once(thread, 'message')) as [number]
	t.teardown(() => thread.terminate())
	// As much as an answer over UDP holds.
	const texts = Array.from({ length: 4 }, (_, i) => `v=spf1 ${'include:x.example '.repeat(13)}${i}`)
	const MX = Array.from({ length: 35 }, (_, i) => `${i} mx${i}.example.org`)
	const hostile = { TXT: texts, MX }
	const dns = await dnsServer(t, new Proxy({}, { get: () => hostile }))
	// Processes and threads of their own: their time is not ours.
	const sink = await startSink()
	const provider = smtpProvider({ url: sink.url })
	t.teardown(async () => {
		await provider.close()
		await sink.close()
	})
	const { env } = testSettings()
	function activitiesOver(carrier: Provider, automationPool = pool, callPool = pool) {
		const { services } = deliveryServices(pool, carrier, {})
		return createActivities({
			...services,
			webhookPool: pool,
			automationPool,
			callPool,
			temporal: { workflow: { getHandle: () => ({ terminate: async () => {} }) } } as never,
			relay: { wake() {}, wakeSends() {} },
			workerId: 'worker',
			firstPasses: new Map(),
			domains: createDomainChecker(
				pool,
				{ ...env, EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:1' },
				[dns.address],
			),
			settings: {
				...services.settings,
				bodyRetentionDays: 30,
				platformFrom: 'noreply@tempost.example',
				secret: env.SESSION_SECRET,
				webhooks: { allowPrivate: true, dnsServers: [] },
			},
		})
	}

	/** Without what would follow from them. */
	async function people(projectId: string, count: number, data: object, name: string) {
		await select('alter table contacts disable trigger user')
		await select(
			`insert into contacts (project_id, email, subscribed, data)
			select $1, $2 || n || '@example.org', true, $3::jsonb from generate_series(1, $4::int) n`,
			[projectId, name, JSON.stringify(data), Math.ceil(count)],
		)
		await select('alter table contacts enable trigger user')
	}
	const one = async <Row extends object = { id: string }>(sql: string, values: unknown[] = []) =>
		(await select<Row>(sql, values))[0]!
	async function post<Answer = { id: string }>(url: string, payload: object) {
		const answer = await context.call('POST', url, payload)
		if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.body.slice(0, 500)}`)
		const body = answer.json<Answer & { data?: Answer }>()
		return body.data ?? body
	}

	await people(project.id, 0.9 * count, {}, 'small')
	await people(project.id, 0.1 * count, largeData, 'large')

	return {
		...context,
		smtp: provider,
		activities: activitiesOver(provider),
		activitiesOver,
		people,
		one,
		post,
		webhookUrl: `http://127.0.0.1:${port}/`,
		rival: async () => (await createProject(orm)).project.id,
		/** The newest of a table, by the names that activities have for such. */
		async of(table: string, name: string): Promise<Record<string, string>[]> {
			const sql = `select project_id as "projectId", id as "${name}" from ${table} order by id desc limit 1`
			return [await one(sql)]
		},
	}
}

export type LargeWork = Awaited<ReturnType<typeof setupLargeWork>>
