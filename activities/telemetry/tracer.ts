/** What a span is to be besides its name. */
export interface About {
	kind?: 'server' | 'client' | 'producer' | 'consumer'
	/** Where it belongs, as a `traceparent` says it; otherwise to the span in which it begins. */
	parent?: string | null
	/** Others that it is about as well. */
	links?: string[] | null
	attributes?: Record<string, string | number>
}

export interface OpenSpan {
	/** What is begun in there belongs to the span. */
	within<T>(work: () => T): T
	end(attributes: Record<string, string | number>, isFault: boolean): void
}

/** A span of which everything is known when it is over. */
export interface PastSpan {
	name: string
	traceparent: string
	spanId: string
	startedAt: number
	endedAt: number
	isFault: boolean
	attributes: Record<string, string>
}

/** Follows work from the request through everything that it leads to. */
export interface Tracer {
	/** The span in which we are, as a `traceparent`; null when nobody follows. */
	current(): string | null
	/** Begins a span, and a trace where it belongs to none. */
	begin(name: string, about: About): OpenSpan
	/** Does work as a span of the trace in which it is; outside of any it is just done. */
	span<T>(name: string, about: About, work: () => Promise<T>): Promise<T>
	/** Whatever the caller is about is not what this is about. */
	outside<T>(work: () => T): T
	record(span: PastSpan): void
}

/** Nobody follows: a process without OTEL_EXPORTER_OTLP_ENDPOINT pays for an empty call. */
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
