import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { MailLog } from './mail-log.ts'
import type { Fault, SinkOptions, SmtpSink } from './smtp-sink.ts'

/**
 * The sink as a process of its own, so that its work is not counted as ours: `node --import=tsx
 * test/helpers/smtp-sink.ts [--port N] [--control N] [--delay MS]`. It prints `{port, control}`.
 * The control port accepts: GET /statistics, GET /distinct (how many different mails), GET /mails[?after=N]
 * (without the first N), POST /faults (a list of Fault), DELETE /mails, POST /idle (drops idle
 * connections), POST /stop (drops all connections, and accepts none until POST /start).
 */
export async function serveStatistics(open: (options: SinkOptions) => Promise<SmtpSink>) {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '0' },
			control: { type: 'string', default: '0' },
			delay: { type: 'string', default: '0' },
		},
	})
	const log = new MailLog()
	const sink = await open({ port: Number(values.port), delayMs: Number(values.delay), log })
	const control = createServer(async (request, response) => {
		const { pathname, searchParams } = new URL(request.url!, 'http://sink')
		switch (`${request.method} ${pathname}`) {
			case 'GET /statistics':
				return response.end(JSON.stringify({ ...sink.statistics(), cpu: process.cpuUsage() }))
			case 'GET /mails':
				return response.end(JSON.stringify(log.after(Number(searchParams.get('after')))))
			case 'GET /distinct':
				return response.end(JSON.stringify(sink.distinct()))
			case 'DELETE /mails':
				sink.forget()
				return response.end('{}')
			case 'POST /faults':
				sink.faults.splice(0, Infinity, ...(JSON.parse(await text(request)) as Fault[]))
				return response.end('{}')
			case 'POST /idle':
				await sink.dropIdle()
				return response.end('{}')
			case 'POST /stop':
				await sink.stop()
				return response.end('{}')
			case 'POST /start':
				await sink.start()
				return response.end('{}')
			default:
				return response.writeHead(404).end()
		}
	}).listen(Number(values.control), '127.0.0.1')
	await once(control, 'listening')
	const { port } = control.address() as AddressInfo // it listens on TCP
	console.log(JSON.stringify({ port: sink.port, control: port }))
}
