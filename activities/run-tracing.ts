import { defaultPayloadConverter } from '@temporalio/common'
import type { ActivityInterceptorsFactory, InjectedSinks, WorkerOptions } from '@temporalio/worker'
import { traceHeader } from '../outside/telemetry/start-tracing.ts'
import { tracer } from '../outside/telemetry/tracer.ts'
import type { RunSinks } from '../workflows/trace-headers.ts'

const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
	inbound: {
		execute(input, next) {
			const payload = input.headers[traceHeader]
			if (!payload) return next(input)
			const parent = defaultPayloadConverter.fromPayload<string>(payload)
			const attributes = { 'temporal.activity.attempt': info.attempt }
			const about = { kind: 'consumer', parent, attributes } as const
			return tracer.span(`activity ${info.activityType}`, about, () => next(input))
		},
	},
})

const sinks: InjectedSinks<RunSinks> = {
	runs: { ended: { fn: (_info, span) => tracer.record(span), callDuringReplay: false } },
}

/** Options of a worker that traces. It has a workflow bundle of its own. */
export const tracedWorker = {
	sinks,
	interceptors: { activity: [traceActivities] },
} satisfies Partial<WorkerOptions>
