import { MockActivityEnvironment } from '@temporalio/testing'
import type { ExecutionContext } from 'ava'
import { bulkActivities } from '../../activities/bulk-jobs.ts'
import { importActivities } from '../../activities/imports/imports.ts'
import { replayActivities } from '../../activities/webhooks/replays.ts'
import type { JobKey } from '../../db/jobs/jobs.ts'
import { setup } from './app.ts'

export interface JobBody {
	id: string
	type: string
	state: string
	progress: number
	fileName?: string
	result: Record<string, unknown> & { errors: { row: number; email: string; error: string }[] }
	failedReason: string | null
	startedAt: string | null
	finishedAt: string | null
}

/** The activity by which each workflow of jobs takes its turns. */
export const turnOf = {
	bulkJob: 'doBulkJob',
	importContacts: 'applyImport',
	undoImport: 'undoImport',
	replayWebhooks: 'doReplay',
} as const

interface OutboxStart {
	workflow_type: keyof typeof turnOf
	payload: JobKey
}

/** Does the work of workflows at once, without a worker. */
export function jobRunner({ orm, pool }: Pick<Awaited<ReturnType<typeof setup>>, 'orm' | 'pool'>) {
	const activitiesOf = (stopping: AbortSignal) => ({
		...importActivities({ pool, stopping }),
		...bulkActivities({ pool, stopping }),
		...replayActivities({ pool, stopping, relay: { wake() {} } }),
	})
	const activities = activitiesOf(new AbortController().signal)
	const act = <T>(work: (job: JobKey) => Promise<T>, job: JobKey) =>
		new MockActivityEnvironment().run(work, job) as Promise<T>

	const execute = <T = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
		orm.em.fork().execute<T[]>(sql, values)
	async function startOf(jobId: string) {
		const [start] = await execute<OutboxStart>(
			`select workflow_type, payload from outbox where payload->>'jobId' = ?`,
			[jobId],
		)
		return start!
	}
	/** Does the work of this job's workflow. */
	async function run(jobId: string) {
		const { workflow_type: type, payload: job } = await startOf(jobId)
		if (type !== 'importContacts') return takeTurns()
		if (await act(activities.stageImport, job)) await takeTurns()
		await act(activities.clearImport, job)

		async function takeTurns() {
			while (await takeTurn(jobId, activities));
		}
	}
	/** Returns true if the job needs another turn. */
	async function takeTurn(
		jobId: string,
		doing: typeof activities,
		environment = new MockActivityEnvironment(),
	): Promise<boolean> {
		const { workflow_type: type, payload: job } = await startOf(jobId)
		return environment.run(doing[turnOf[type]], job, true)
	}

	return {
		activities,
		act,
		execute,
		run,
		/** The turn of a worker that is stopping. */
		takeLastTurn: (jobId: string) => takeTurn(jobId, activitiesOf(AbortSignal.abort())),
		/** A turn that Temporal cancels. */
		takeCancelledTurn(jobId: string) {
			const environment = new MockActivityEnvironment()
			environment.cancel()
			return takeTurn(jobId, activities, environment)
		},
	}
}

/** An API with a project, and the work of its jobs. */
export async function setupJobs(t: ExecutionContext, options: Parameters<typeof setup>[1] = {}) {
	const context = await setup(t, options)
	const { app, withSecretKey: headers } = context
	const runner = jobRunner(context)
	const { execute, run } = runner
	const call = (method: 'GET' | 'POST' | 'DELETE' | 'PATCH', url: string, payload?: object) =>
		app.inject({ method, url, headers, ...(payload ? { payload } : {}) })

	const upload = (csv: string | Buffer, name = 'contacts.csv', type = 'text/csv') => {
		const form = new FormData()
		form.append('file', new Blob([new Uint8Array(Buffer.from(csv))], { type }), name)
		return app.inject({ method: 'POST', url: '/contacts/import', headers, payload: form })
	}
	const job = async (jobId: string, kind = 'import') =>
		(await call('GET', `/contacts/${kind}/${jobId}`)).json<JobBody>()

	return {
		...context,
		...runner,
		call,
		upload,
		job,
		/** Imports a file, from its upload to the end of its job. */
		async import(csv: string | Buffer) {
			const { jobId } = (await upload(csv)).json<{ jobId: string }>()
			await run(jobId)
			return job(jobId)
		},
		async undo(importId: string) {
			const answer = await call('POST', `/contacts/import/${importId}/undo`)
			const { jobId } = answer.json<{ jobId: string }>()
			await run(jobId)
			return job(jobId)
		},
		async bulk(operation: string, payload: object) {
			const answer = await call('POST', `/contacts/bulk-${operation}`, payload)
			const { jobId } = answer.json<{ jobId: string }>()
			await run(jobId)
			return job(jobId, 'bulk')
		},
		/** Cancels the job, as by a request, at the moment when it reaches that position. */
		async cancelWhenAt(jobId: string, position: number) {
			await execute(`create function cancel_here() returns trigger language plpgsql as $$
				begin new.state = 'cancelled'; new.finished_at = now(); return new; end $$`)
			await execute(`create trigger cancel_here before update on jobs for each row
				when (new.id = '${jobId}' and new.position = ${position}) execute function cancel_here()`)
		},
		/** Lets no chunk beyond that position commit, until the returned function is called. */
		async breakAt(jobId: string, position: number) {
			await execute(`create function stop_here() returns trigger language plpgsql as $$
				begin raise exception 'no further' using errcode = '57P01'; end $$`)
			await execute(`create trigger stop_here before update on jobs for each row
				when (new.id = '${jobId}' and new.position > ${position}) execute function stop_here()`)
			return async () => void (await execute('drop trigger stop_here on jobs'))
		},
		contact: async (email: string) =>
			(
				await execute<{ id: string; subscribed: boolean; data: Record<string, unknown> }>(
					'select id, subscribed, data from contacts where email = ?',
					[email],
				)
			)[0],
		contactCount: async () =>
			(await execute<{ n: number }>('select count(*)::int as n from contacts'))[0]!.n,
		eventNames: async () =>
			(await execute<{ name: string }>('select name from events order by name')).map(
				({ name }) => name,
			),
	}
}
