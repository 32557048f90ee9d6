/** The details of a span besides its name. */
export interface About {
	kind?: 'server' | 'client' | 'producer' | 'consumer'
	/** The parent as a `traceparent`; by default the current span. */
	parent?: string | null
	/** Other spans that it relates to. */
	links?: string[] | null
	attributes?: Record<string, string | number>
}

export interface OpenSpan {
	/** Spans started in `work` belong to this span. */
	within<T>(work: () => T): T
	end(attributes: Record<string, string | number>, isFault: boolean): void
}

/** A span that is recorded after its end. */
export interface PastSpan {
	name: string
	traceparent: string
	spanId: string
	startedAt: number
	endedAt: number
	isFault: boolean
	attributes: Record<string, string>
}

/** Follows work from the request to all its consequences. */
export interface Tracer {
	/** The current span as a `traceparent`; null if tracing is off. */
	current(): string | null
	/** Starts a span, and a new trace if it has no parent. */
	begin(name: string, about: About): OpenSpan
	/** Runs work as a span of the current trace. Outside of a trace it only runs the work. */
	span<T>(name: string, about: About, work: () => Promise<T>): Promise<T>
	/** Runs work that is unrelated to the caller's span. */
	outside<T>(work: () => T): T
	record(span: PastSpan): void
}

/** Tracing is off: without OTEL_EXPORTER_OTLP_ENDPOINT each call is an empty function. */
export let tracer: Tracer = {
	current: () => null,
	begin: () => ({ within: (work) => work(), end() {} }),
	span: (_name, _about, work) => work(),
	outside: (work) => work(),
	record() {},
}

export function traceBy(real: Tracer) {
	tracer = real
}
