import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

export interface CollectedSpan {
	service: string
	name: string
	traceId: string
	spanId: string
	parentSpanId: string
	kind: number
	startMs: number
	endMs: number
	isFault: boolean
	links: string[]
	attributes: Record<string, string>
}

interface Value {
	stringValue?: string
	intValue?: number | string
}
interface Attribute {
	key: string
	value: Value
}
interface Body {
	resourceSpans: {
		resource: { attributes: Attribute[] }
		scopeSpans: {
			spans: {
				name: string
				traceId: string
				spanId: string
				parentSpanId?: string
				kind: number
				startTimeUnixNano: string
				endTimeUnixNano: string
				status?: { code?: number }
				links?: { traceId: string; spanId: string }[]
				attributes: Attribute[]
			}[]
		}[]
	}[]
}

/** A server that receives spans by OTLP over HTTP in JSON, written from the protocol's specification. */
export async function otlpCollector(t: ExecutionContext) {
	const spans: CollectedSpan[] = []
	const server = createServer(async (request, response) => {
		let text = ''
		for await (const part of request.setEncoding('utf8')) text += part
		const isFit = request.method === 'POST' && request.url === '/v1/traces'
		if (isFit) spans.push(...read(JSON.parse(text) as Body))
		response.writeHead(isFit ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	t.teardown(() => {
		server.closeAllConnections()
		server.close()
	})
	const { port } = server.address() as AddressInfo
	return { url: `http://127.0.0.1:${port}`, spans }
}

const read = ({ resourceSpans }: Body): CollectedSpan[] =>
	resourceSpans.flatMap(({ resource, scopeSpans }) =>
		scopeSpans.flatMap(({ spans }) =>
			spans.map((span) => ({
				service: plain(resource.attributes)['service.name'] ?? '',
				name: span.name,
				traceId: span.traceId,
				spanId: span.spanId,
				parentSpanId: span.parentSpanId ?? '',
				kind: span.kind,
				startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
				endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
				isFault: span.status?.code === 2,
				links: (span.links ?? []).map(({ traceId }) => traceId),
				attributes: plain(span.attributes),
			})),
		),
	)

const plain = (attributes: Attribute[]) =>
	Object.fromEntries(
		attributes.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue)]),
	)
