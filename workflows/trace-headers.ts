import {
	ContinueAsNew,
	defaultPayloadConverter,
	proxySinks,
	type Sinks,
	workflowInfo,
	type WorkflowInterceptorsFactory,
} from '@temporalio/workflow'
import type { PastSpan } from '../activities/telemetry/tracer.ts'

// Only in the bundle of a worker that follows traces. It adds headers and nothing else, so that a run
// may go on under a worker that does not, and the other way round.

export interface RunSinks extends Sinks {
	runs: {
		ended(span: PastSpan): void
	}
}

const header = 'traceparent'
const { runs } = proxySinks<RunSinks>()

/** A run's activities belong to the run, and the run to the span whose header it came with. */
export const interceptors: WorkflowInterceptorsFactory = () => {
	const { runId, workflowId, workflowType, runStartTime } = workflowInfo()
	// Made from the run's id: whoever replays it comes to the same.
	const spanId = runId.replaceAll('-', '').slice(-16)
	let above: string | undefined

	function ended(traceparent: string, isFault: boolean) {
		runs.ended({
			name: `workflow ${workflowType}`,
			traceparent,
			spanId,
			startedAt: runStartTime.getTime(),
			endedAt: Date.now(),
			isFault,
			attributes: { 'temporal.workflow.id': workflowId, 'temporal.run.id': runId },
		})
	}

	return {
		inbound: [
			{
				async execute(input, next) {
					const payload = input.headers[header]
					if (!payload) return next(input)
					above = defaultPayloadConverter.fromPayload<string>(payload)
					try {
						const result = await next(input)
						ended(above, false)
						return result
					} catch (error) {
						ended(above, !(error instanceof ContinueAsNew))
						throw error
					}
				},
			},
		],
		outbound: [
			{
				scheduleActivity(input, next) {
					const parent = above?.replace(/^(\w+-\w+-)\w+/, `$1${spanId}`)
					return next({ ...input, headers: withTrace(input.headers, parent) })
				},
				continueAsNew: (input, next) =>
					next({ ...input, headers: withTrace(input.headers, above) }),
			},
		],
	}
}

const withTrace = <T extends object>(headers: T, trace: string | undefined) =>
	trace ? { ...headers, [header]: defaultPayloadConverter.toPayload(trace) } : headers
