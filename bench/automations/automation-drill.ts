import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Servers } from '../../local/servers.ts'
import {
	delayStep,
	freeze,
	mailStep,
	waitStep,
	webhookStep,
} from '../../test/helpers/executions.ts'
import { atRest } from '../at-rest.ts'
import { tally } from '../drill.ts'
import { client } from '../load.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import { poolOfStack, templateOf } from './automation-stack.ts'

/** The result of an independent check after a drill. */
export interface JourneyVerdict {
	begun: number
	completed: number
	/** Neither completed nor at another expected place. */
	stuck: number
	/** Executions that visited a step more or less often than their path requires. */
	doubled: number
	/** Mails that the sink should have, but hasn't. */
	lost: number
	/** Mails that the sink accepted more than once. */
	repeated: number
	/** Mails that a kill has left in doubt. */
	uncertain: number
	/** Calls under different keys; each execution has one. */
	calls: number
}

const stepsOfPath = 10

/**
 * Journeys through every type of step under faults. Half of the contacts do what the workflow waits for,
 * the others let the time pass.
 */
export async function journeys(
	servers: Pick<Servers, 'databaseUrl' | 'temporalAddress'>,
	count: number,
	perSecond: number,
	harm: (stack: Stack) => Promise<void>,
): Promise<JourneyVerdict> {
	const keys = new Map<string, number>()
	const hook = createServer((request, response) => {
		const key = String(request.headers['idempotency-key'])
		keys.set(key, (keys.get(key) ?? 0) + 1)
		request.resume().on('end', () => response.end('{"ok":true}'))
	})
	await once(hook.listen(0, '127.0.0.1'), 'listening')
	const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
	const sink = await startSink(['--delay', '15'])
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		ALLOW_PRIVATE_WEBHOOKS: 'true',
	})
	try {
		await stack.api.start()
		await stack.worker.start()
		const pool = await poolOfStack(stack)
		await freeze(pool, stack.projectId, await templateOf(stack), {
			on: 'signed-up',
			steps: [
				mailStep,
				delayStep(1),
				waitStep('bought', 3),
				['CONDITION', { field: 'contact.subscribed', operator: 'equals', value: true }],
				webhookStep(hookUrl),
				['UPDATE_CONTACT', { data: { called: '{{ steps.Call.statusCode }}' }, subscribed: null }],
				delayStep(1),
				mailStep,
				['EXIT', { reason: 'Done' }],
			],
			ways: [
				[0, 1],
				[1, 2],
				[2, 3],
				[3, 4, 'event'],
				[3, 4, 'timeout'],
				[4, 5, 'yes'],
				[5, 6],
				[6, 7],
				[7, 8],
				[8, 9],
			],
		})
		const harming = harm(stack)
		await live(stack, count, perSecond)
		await harming
		await atRest(pool, 240_000)
		return { ...(await judge(stack, sink)), calls: keys.size }
	} finally {
		await stack.stop()
		await sink.close()
		hook.close()
	}
}

/** All contacts sign up, and half of them buy two seconds later. */
async function live(stack: Stack, count: number, perSecond: number) {
	const http = client(stack.apiUrl, stack.publicKey, 8)
	const track = async (event: string, i: number) => {
		const body = { email: `journey-${i}@example.org`, event, subscribed: true }
		while ((await http.post('/v1/track', body)).status !== 200) await sleep(100)
	}
	const later: Promise<void>[] = []
	const startedAt = Date.now()
	for (let i = 0; i < count; i++) {
		await track('signed-up', i)
		if (i % 2 === 0) later.push(sleep(2000).then(() => track('bought', i)))
		const due = startedAt + ((i + 1) / perSecond) * 1000
		if (due > Date.now()) await sleep(due - Date.now())
	}
	await Promise.all(later)
	http.close()
}

async function judge(stack: Stack, sink: SinkProcess) {
	const [row] = await stack.orm.em.fork().execute<Omit<JourneyVerdict, 'lost' | 'repeated'>[]>(
		`select count(*)::int as begun,
			count(*) filter (where x.status = 'EXITED')::int as completed,
			count(*) filter (where x.status <> 'EXITED')::int as stuck,
			count(*) filter (where x.status = 'EXITED' and visits <> ${stepsOfPath})::int as doubled,
			(select count(*)::int from emails where status = 'UNCERTAIN') as uncertain
		from executions x cross join lateral (
			select count(*) as visits from execution_steps s
			where s.project_id = x.project_id and s.execution_id = x.id) s`,
	)
	const mails = await stack.orm.em
		.fork()
		.execute<{ id: string; status: string }[]>('select id, status from emails')
	const taken = tally((await sink.mails()).map(({ emailId }) => emailId))
	const known = mails.filter(({ status, id }) => status === 'SENT' && taken.has(id))
	const missing = 2 * row!.begun - mails.length
	const unsent = mails.filter(({ status }) => status !== 'UNCERTAIN').length - known.length
	const repeated = [...taken.values()].reduce((sum, times) => sum + times - 1, 0)
	return { ...row!, lost: missing + unsent, repeated }
}

export async function counted({ orm }: Stack, sql: string) {
	const [row] = await orm.em.fork().execute<{ n: number }[]>(sql)
	return row!.n
}
