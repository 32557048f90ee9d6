import type { Api, BulkJob, ImportJob, WebhookReplay } from './api.ts'
import { TempostError } from './errors.ts'
import type { RequestOptions } from './options.ts'
import { sleep } from './retries.ts'

export type Job = ImportJob | BulkJob

export interface WaitOptions<Awaited = Job> {
	/** Called with the job when its state or progress has changed. */
	onProgress?: ((job: Awaited) => void) | undefined
	/** How often each look at the job is repeated at most. By default without limit, once the service has answered. */
	retries?: number | undefined
	/** Ends the wait, but not the job. */
	signal?: AbortSignal | undefined
}

type LookOptions = Pick<RequestOptions, 'retries' | 'signal'>

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
	async get(id: string, options: LookOptions = {}): Promise<Job> {
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
	 * `details`. The job goes on while the service is away, and so does the wait.
	 */
	wait(job: JobReference, options: WaitOptions = {}): Promise<Job> {
		const id = idOf(job)
		let isBulk = false
		const look = async (lookOptions: LookOptions) => {
			const found = isBulk
				? await this.#api.contacts.getBulkJob(id, lookOptions)
				: await this.get(id, lookOptions)
			isBulk = found.type !== 'import' && found.type !== 'undo'
			return found
		}
		return untilEnded(look, options, isAnswer(job))
	}

	/** As `wait`, for a replay of a webhook endpoint. */
	waitForReplay(
		endpointId: string,
		job: JobReference,
		options: WaitOptions<WebhookReplay> = {},
	): Promise<WebhookReplay> {
		const { webhookEndpoints } = this.#api
		const look = (lookOptions: LookOptions) =>
			webhookEndpoints.getReplay(endpointId, idOf(job), lookOptions)
		return untilEnded(look, options, isAnswer(job))
	}
}

const isNotFound = (error: unknown): error is TempostError =>
	error instanceof TempostError && error.status === 404

const idOf = (job: JobReference) => (typeof job === 'string' ? job : job.jobId)

/** The answer shows that the service is there. An id may belong to a service at another address. */
const isAnswer = (job: JobReference) => typeof job !== 'string'

async function untilEnded<AnyJob extends Job | WebhookReplay>(
	look: (options: LookOptions) => Promise<AnyJob>,
	{ onProgress, signal, retries }: WaitOptions<AnyJob>,
	hasAnswered: boolean,
): Promise<AnyJob> {
	let seen = ''
	for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
		const isPatient = hasAnswered || seen !== ''
		const job = await look({ signal, retries: retries ?? (isPatient ? Infinity : undefined) })
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
