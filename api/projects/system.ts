import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { usageStanding } from '../../db/billing/usage-standing.ts'
import { activeRuns, mostCounted, runKinds, waitingWork } from '../../db/projects/system-state.ts'
import { Health, type HealthView } from '../health.ts'
import { about, Component, Id, Nullable, Timestamp } from '../schemas.ts'
import { ProjectParams } from './projects.ts'
import { SendingState, sendingState } from './sending-state.ts'

const Count = Component('BoundedCount', {
	count: Type.Integer(),
	atLeast: Type.Boolean({ description: 'Counting ended here: there may be more' }),
})
const System = Component('System', {
	health: Health,
	sending: SendingState,
	provider: Type.Object({
		name: Type.String(),
		awaySince: Nullable(Timestamp),
		answer: Nullable(Type.String({ description: 'Its last answer, without addresses' })),
	}),
	backlog: Type.Object({
		waiting: Count,
		oldestWaitingSince: Nullable(Timestamp),
		sending: Count,
		campaignWaiting: Type.Integer({ description: 'Of campaigns that are being sent' }),
		campaignSending: Type.Integer(),
		scheduled: Count,
		nextScheduledFor: Nullable(Timestamp),
	}),
	doubt: Type.Object({ uncertain: Count, oldestSince: Nullable(Timestamp) }),
	outbox: Type.Object({ waiting: Count, oldestSince: Nullable(Timestamp) }),
	webhooks: Type.Object({ waiting: Count }),
	runs: Type.Array(
		Component('ActiveRun', {
			kind: Type.Enum([...runKinds]),
			id: about('Of the campaign, job, workflow, suspension, request or execution', Id),
			workflowId: Type.String({ description: 'Its name in Temporal' }),
			startedAt: Timestamp,
			temporalUrl: Nullable(Type.String({ description: 'The run in Temporal’s Web UI' })),
		}),
	),
})

const runsShown = 20

export interface SystemOptions {
	pool: Pool
	checkHealth: () => Promise<HealthView>
	isMailReal: boolean
	settings: {
		emailProvider: string
		temporalUi: { url: string; namespace: string } | undefined
		features: { billing: boolean }
	}
}

/** For an owner who wonders why mail does not move. */
export const system: FastifyPluginAsyncTypebox<SystemOptions> = async (app, options) => {
	const { pool, checkHealth, isMailReal, settings } = options

	app.get(
		'/projects/:id/system',
		{
			config: { auth: 'session' },
			schema: {
				tags: ['projects'],
				summary: 'Get what moves a project’s mail, and what holds it up',
				description:
					'Health, backlog, mails in doubt, and the newest active runs. Counts end at 10,000. Executions are listed if they are among the newest 2,000.',
				params: ProjectParams,
				response: { 200: System },
			},
		},
		async ({ project }) => {
			const [health, [work], runs, reached] = await Promise.all([
				checkHealth(),
				waitingWork(pool, { projectId: project.id }),
				activeRuns(pool, { projectId: project.id, limit: runsShown }),
				settings.features.billing ? reachedLimits(pool, project.id) : [],
			])
			const isRateLimited = work!.waiting > 0 && work!.rateWaitSeconds > 0
			return {
				health,
				sending: sendingState({ project, health, isMailReal, reached, isRateLimited }),
				provider: health.provider ?? {
					name: settings.emailProvider,
					awaySince: null,
					answer: null,
				},
				...figures(work!),
				runs: runs.map((run) => ({ ...run, temporalUrl: temporalUrl(run.workflowId) })),
			}
		},
	)

	/** Without a run's own id, the Web UI shows the latest run of that name. */
	const temporalUrl = (workflowId: string) =>
		settings.temporalUi
			? `${settings.temporalUi.url}/namespaces/${encodeURIComponent(settings.temporalUi.namespace)}/workflows/${encodeURIComponent(workflowId)}`
			: null
}

async function reachedLimits(pool: Pool, projectId: string) {
	const standing = await usageStanding(pool, { projectId })
	return standing
		.filter(({ usage, limit }) => limit !== null && usage >= limit)
		.map(({ category }) => category)
}

function figures(work: Awaited<ReturnType<typeof waitingWork>>[number]) {
	const bounded = (count: number, isCut = count > mostCounted) => ({
		count: Math.min(count, mostCounted),
		atLeast: isCut,
	})
	// Of more open mails, the states of the oldest are known.
	const isCut = work.openMails > mostCounted
	return {
		backlog: {
			waiting: bounded(work.waiting, isCut),
			oldestWaitingSince: work.oldestWaitingSince,
			sending: bounded(work.sending, isCut),
			campaignWaiting: work.campaignWaiting,
			campaignSending: work.campaignSending,
			scheduled: bounded(work.scheduled),
			nextScheduledFor: work.nextScheduledFor,
		},
		doubt: { uncertain: bounded(work.uncertain), oldestSince: work.oldestUncertainSince },
		outbox: { waiting: bounded(work.outbox), oldestSince: work.oldestOutboxSince },
		webhooks: { waiting: bounded(work.webhooks) },
	}
}
