import type { Api, BulkJob, ImportJob } from './api.ts'
import { TempostError } from './errors.ts'
import { sleep } from './retries.ts'

export type Job = ImportJob | BulkJob

export interface WaitOptions {
	/** Called with the job when its state or progress has changed. */
	onProgress?: ((job: Job) => void) | undefined
	signal?: AbortSignal | undefined
}

const firstPauseMs = 100
const longestPauseMs = 2000

export class Jobs {
	#api: Api

	constructor(api: Api) {
		this.#api = api
	}

	/** An import or a bulk job, whichever has this id. */
	async get(id: string, signal?: AbortSignal): Promise<Job> {
		const options = { signal }
		try {
			return await this.#api.contacts.getImport(id, options)
		} catch (error) {
			if (!(error instanceof TempostError && error.status === 404)) throw error
			return this.#api.contacts.getBulkJob(id, options)
		}
	}

	/** Resolves with the completed job. A job that failed or was cancelled is an error with the job in `details`. */
	async wait(job: string | { jobId: string }, options: WaitOptions = {}): Promise<Job> {
		const { onProgress, signal } = options
		const id = typeof job === 'string' ? job : job.jobId
		let seen = ''
		for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
			const now = await this.get(id, signal)
			if (seen !== `${now.state} ${now.progress}`) onProgress?.(now)
			seen = `${now.state} ${now.progress}`
			if (now.state === 'completed') return now
			if (now.state === 'failed' || now.state === 'cancelled') throw ended(now)
			await sleep(pauseMs, signal)
		}
	}
}

const ended = (job: Job) =>
	job.state === 'failed'
		? new TempostError('JOB_FAILED', job.failedReason ?? 'The job failed', { details: { job } })
		: new TempostError('JOB_CANCELLED', 'The job was cancelled', { details: { job } })
