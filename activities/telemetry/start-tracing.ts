import type { WorkflowClientInterceptor } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import { tracer } from './tracer.ts'

export const traceHeader = 'traceparent'

/** A run belongs to the span in which it is started. */
export const traceStarts: WorkflowClientInterceptor = {
	start(input, next) {
		const trace = tracer.current()
		if (!trace) return next(input)
		const payload = defaultPayloadConverter.toPayload(trace)
		return next({ ...input, headers: { ...input.headers, [traceHeader]: payload } })
	},
}
