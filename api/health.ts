import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { inTime } from '../db/in-time.ts'
import { awayProviders } from '../db/provider-state.ts'
import { Component, Timestamp } from './schemas.ts'

export interface HealthOptions {
	pool: Pool
	/** Whether Temporal answers, and whether any worker polls it. */
	checkTemporal(): Promise<{ temporal: boolean; worker: boolean }>
}

const Check = Type.Union([Type.Literal('ok'), Type.Literal('away')])
const AwayProvider = Type.Object({
	name: Type.String(),
	awaySince: Timestamp,
	answer: Type.String({ description: 'Its last answer, without addresses' }),
})
export const Health = Component('Health', {
	status: Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('unavailable')]),
	checks: Type.Object({ database: Check, temporal: Check, worker: Check, provider: Check }),
	provider: Type.Union([AwayProvider, Type.Null()], {
		description: 'The mail provider, when it has taken no mail for a minute',
	}),
})

export type HealthView = Type.Static<typeof Health>

const patienceMs = 2000
const freshMs = 1000

/** Even with many requests it costs only one check a second. */
export function createHealthCheck(options: HealthOptions) {
	let last: { at: number; result: Promise<HealthView> } | undefined
	return () => {
		if (!last || performance.now() - last.at > freshMs)
			last = { at: performance.now(), result: check(options) }
		return last.result
	}
}

interface RouteOptions {
	checkHealth: () => Promise<HealthView>
}

export const health: FastifyPluginAsyncTypebox<RouteOptions> = async (app, { checkHealth }) => {
	app.get(
		'/health',
		{
			config: { auth: 'none', evenOverloaded: true },
			schema: {
				tags: ['service'],
				summary: 'Check whether mail can flow',
				description:
					'`degraded`: requests are accepted and mail waits, for Temporal, a worker or the mail provider to return. `unavailable`, with status 503: the database is away.',
				response: { 200: Health, 503: Health },
			},
		},
		async (_request, reply) => {
			const result = await checkHealth()
			return reply.code(result.status === 'unavailable' ? 503 : 200).send(result)
		},
	)
}

async function check({ pool, checkTemporal }: HealthOptions): Promise<HealthView> {
	const [database, { temporal, worker }] = await Promise.all([
		within(
			awayProviders(pool).then((away) => ({ away })),
			null,
		),
		within(checkTemporal(), { temporal: false, worker: false }),
	])
	const name = (isOk: boolean) => (isOk ? 'ok' : 'away')
	const away = database?.away[0]
	const canFlow = temporal && worker && !away
	const status = !database ? 'unavailable' : canFlow ? 'ok' : 'degraded'
	return {
		status,
		checks: {
			database: name(database !== null),
			temporal: name(temporal),
			worker: name(worker),
			provider: name(!away),
		},
		provider: away ? { name: away.name, awaySince: away.since, answer: away.answer } : null,
	}
}

/** Health checks must answer quickly, so a late answer counts as a failure. */
const within = async <T>(question: Promise<T>, otherwise: T): Promise<T> =>
	(await inTime(
		patienceMs,
		question.catch(() => otherwise),
	)) ?? otherwise
