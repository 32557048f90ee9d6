import type { WorkflowClientInterceptor } from '@temporalio/client'
import { defaultPayloadConverter, type Headers } from '@temporalio/common'
import { tracer } from './tracer.ts'

export const traceHeader = 'traceparent'

/** A run belongs to the span in which it is started. */
export const traceStarts: WorkflowClientInterceptor = {
	start: (input, next) => next(traced(input)),
	signalWithStart: (input, next) => next(traced(input)),
}

function traced<Input extends { headers: Headers }>(input: Input): Input {
	const trace = tracer.current()
	if (!trace) return input
	const payload = defaultPayloadConverter.toPayload(trace)
	return { ...input, headers: { ...input.headers, [traceHeader]: payload } }
}
