import type { Api, BulkJob, ImportJob, WebhookReplay } from './api.ts'
import { TempostError } from './errors.ts'
import { sleep } from './retries.ts'

export type Job = ImportJob | BulkJob

export interface WaitOptions<Awaited = Job> {
	/** Called with the job when its state or progress has changed. */
	onProgress?: ((job: Awaited) => void) | undefined
	signal?: AbortSignal | undefined
}

/** The answer to the request that began the job, or its id. */
type JobReference = string | { jobId: string }

const firstPauseMs = 100
const longestPauseMs = 2000

export class Jobs {
	#api: Api

	constructor(api: Api) {
		this.#api = api
	}

	/** An import or a bulk job, whichever has this id. */
	async get(id: string, options: { signal?: AbortSignal | undefined } = {}): Promise<Job> {
		const { contacts } = this.#api
		try {
			return await contacts.getImport(id, options).catch((error: unknown) => {
				if (isNotFound(error)) return contacts.getBulkJob(id, options)
				throw error
			})
		} catch (error) {
			if (isNotFound(error)) error.suggestion = 'Wait for a replay with jobs.waitForReplay().'
			throw error
		}
	}

	/**
	 * Resolves with the completed import or bulk job. A job that failed or was cancelled is an error with the job in
	 * `details`.
	 */
	wait(job: JobReference, options: WaitOptions = {}): Promise<Job> {
		const id = idOf(job)
		let isBulk = false
		return untilEnded(async (signal) => {
			const found = isBulk
				? await this.#api.contacts.getBulkJob(id, { signal })
				: await this.get(id, { signal })
			isBulk = found.type !== 'import' && found.type !== 'undo'
			return found
		}, options)
	}

	/** As `wait`, for a replay of a webhook endpoint. */
	waitForReplay(
		endpointId: string,
		job: JobReference,
		options: WaitOptions<WebhookReplay> = {},
	): Promise<WebhookReplay> {
		const { webhookEndpoints } = this.#api
		return untilEnded(
			(signal) => webhookEndpoints.getReplay(endpointId, idOf(job), { signal }),
			options,
		)
	}
}

const isNotFound = (error: unknown): error is TempostError =>
	error instanceof TempostError && error.status === 404

const idOf = (job: JobReference) => (typeof job === 'string' ? job : job.jobId)

async function untilEnded<AnyJob extends Job | WebhookReplay>(
	look: (signal: AbortSignal | undefined) => Promise<AnyJob>,
	{ onProgress, signal }: WaitOptions<AnyJob>,
): Promise<AnyJob> {
	let seen = ''
	for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
		const job = await look(signal)
		const { state, progress } = job
		if (seen !== `${state} ${progress}`) onProgress?.(job)
		seen = `${state} ${progress}`
		if (state === 'completed') return job
		if (state === 'failed' || state === 'cancelled') throw ended(job)
		await sleep(pauseMs, signal)
	}
}

const ended = (job: Job | WebhookReplay) =>
	job.state === 'failed'
		? new TempostError('JOB_FAILED', job.failedReason ?? 'The job failed', { details: { job } })
		: new TempostError('JOB_CANCELLED', 'The job was cancelled', { details: { job } })
