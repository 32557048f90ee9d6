import { AsyncLocalStorage } from 'node:async_hooks'
import {
	isSpanContextValid,
	ROOT_CONTEXT,
	type Span,
	type SpanContext,
	SpanKind,
	SpanStatusCode,
	trace,
	TraceFlags,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
	defaultResource,
	detectResources,
	envDetector,
	resourceFromAttributes,
} from '@opentelemetry/resources'
import {
	BatchSpanProcessor,
	ParentBasedSampler,
	RandomIdGenerator,
	TraceIdRatioBasedSampler,
	TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { About, Tracer } from './tracer.ts'

export interface TracingOptions {
	endpoint: string
	service: string
	/** The share of traces to record, for traces that start here. */
	ratio: number
}

const kinds = {
	server: SpanKind.SERVER,
	client: SpanKind.CLIENT,
	producer: SpanKind.PRODUCER,
	consumer: SpanKind.CONSUMER,
} as const

/** A tracer that exports its spans by OTLP over HTTP. The caller may have started the trace. */
export function otelTracer({ endpoint, service, ratio }: TracingOptions) {
	const ids = new RandomIdGenerator()
	/** The id for a workflow's span: its activities already refer to it. */
	let givenId: string | undefined
	const provider = new TracerProvider({
		// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
		resource: defaultResource()
			.merge(resourceFromAttributes({ 'service.name': service }))
			.merge(detectResources({ detectors: [envDetector] })),
		sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
		idGenerator: {
			generateTraceId: () => ids.generateTraceId(),
			generateSpanId: () => givenId ?? ids.generateSpanId(),
		},
		spanProcessors: [
			new BatchSpanProcessor({
				exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` }),
			}),
		],
	})
	const spans = provider.getTracer('tempost')
	const current = new AsyncLocalStorage<SpanContext | undefined>()

	function open(name: string, { kind, parent, links, attributes }: About, startTime?: number) {
		const above = parent ? contextOf(parent) : current.getStore()
		const context = above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT
		const others = (links ?? []).flatMap((link) => contextOf(link) ?? [])
		return spans.startSpan(
			name,
			{
				kind: kind ? kinds[kind] : SpanKind.INTERNAL,
				links: others.map((context) => ({ context })),
				...(attributes && { attributes }),
				...(startTime !== undefined && { startTime }),
			},
			context,
		)
	}

	const tracer: Tracer = {
		current() {
			const context = current.getStore()
			return context && isFollowed(context) ? traceparentOf(context) : null
		},
		begin(name, about) {
			const span = open(name, about)
			return {
				within: (work) => current.run(span.spanContext(), work),
				end: (attributes, isFault) => close(span.setAttributes(attributes), isFault),
			}
		},
		async span(name, about, work) {
			const above = about.parent ? contextOf(about.parent) : current.getStore()
			if (!above || !isFollowed(above)) return work()
			const span = open(name, about)
			try {
				const result = await current.run(span.spanContext(), work)
				close(span, false)
				return result
			} catch (error) {
				close(span, true)
				throw error
			}
		},
		outside: (work) => current.run(undefined, work),
		record({ name, traceparent, spanId, startedAt, endedAt, isFault, attributes }) {
			givenId = spanId
			const span = open(name, { parent: traceparent, attributes }, startedAt)
			givenId = undefined
			close(span, isFault, endedAt)
		},
	}
	return { tracer, stop: () => provider.shutdown() }
}

function close(span: Span, isFault: boolean, endedAt?: number) {
	// Without the error's message, which may contain personal data.
	if (isFault) span.setStatus({ code: SpanStatusCode.ERROR })
	span.end(endedAt)
}

const isFollowed = ({ traceFlags }: SpanContext) => (traceFlags & TraceFlags.SAMPLED) !== 0

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext) =>
	`00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

const format = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** undefined if it is invalid under the W3C recommendation. */
function contextOf(traceparent: string): SpanContext | undefined {
	const [, traceId, spanId, flags] = format.exec(traceparent) ?? []
	if (!traceId || !spanId || !flags) return undefined
	const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
	return isSpanContextValid(context) ? context : undefined
}
