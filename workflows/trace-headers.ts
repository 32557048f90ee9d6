import {
	ContinueAsNew,
	defaultPayloadConverter,
	proxySinks,
	type Sinks,
	workflowInfo,
	type WorkflowInterceptorsFactory,
} from '@temporalio/workflow'
import type { PastSpan } from '../outside/telemetry/tracer.ts'

// Only in the bundle of a worker that traces. It adds headers only, so a run may move between workers with
// and without tracing.

export interface RunSinks extends Sinks {
	runs: {
		ended(span: PastSpan): void
	}
}

const header = 'traceparent'
const { runs } = proxySinks<RunSinks>()

/**
 * A run's activities are children of the run. The run is a child of the span in the header it was started
 * with.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
	const { runId, workflowId, workflowType, runStartTime } = workflowInfo()
	// Derived from the run's id, so every replay gets the same span id.
	const spanId = runId.replaceAll('-', '').slice(-16)
	let above: string | undefined

	const ofRun = () => above?.replace(/^(\w+-\w+-)\w+/, `$1${spanId}`)

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
				scheduleActivity: (input, next) =>
					next({ ...input, headers: withTrace(input.headers, ofRun()) }),
				scheduleLocalActivity: (input, next) =>
					next({ ...input, headers: withTrace(input.headers, ofRun()) }),
				continueAsNew: (input, next) =>
					next({ ...input, headers: withTrace(input.headers, above) }),
			},
		],
	}
}

const withTrace = <T extends object>(headers: T, trace: string | undefined) =>
	trace ? { ...headers, [header]: defaultPayloadConverter.toPayload(trace) } : headers
