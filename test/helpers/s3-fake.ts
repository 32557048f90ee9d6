import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

interface Stored {
	body: Buffer
	headers: IncomingHttpHeaders
}

/** The part of S3 that we use: objects by path, and the checks of a valid request. */
export async function s3Fake(t: ExecutionContext) {
	const objects = new Map<string, Stored>()
	const requests: { method: string; headers: IncomingHttpHeaders }[] = []
	let fault: number | 'torn' | undefined
	const server = createServer(async (request, response) => {
		const body = Buffer.concat(await request.toArray())
		const { method = '', url = '', headers } = request
		requests.push({ method, headers })
		const isWhole =
			headers['x-amz-content-sha256'] === createHash('sha256').update(body).digest('hex')
		if (fault === 'torn') {
			// Sent before the connection ends, so that the fault is in the body.
			response.writeHead(200, { 'content-length': 1000 })
			response.write('the first of it', () => response.destroy())
		} else if (fault) response.writeHead(fault).end('<Error><Code>SlowDown</Code></Error>')
		else if (!isWhole)
			response.writeHead(400).end('<Error><Code>XAmzContentSHA256Mismatch</Code></Error>')
		else if (method === 'PUT') {
			objects.set(url, { body, headers })
			response.writeHead(200).end()
		} else if (!objects.has(url))
			response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
		else {
			const stored = objects.get(url)!.body
			response.writeHead(200, { 'content-length': stored.length }).end(stored)
		}
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	t.teardown(() => server.close())
	return {
		endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		objects,
		requests,
		/** Fails with a status, or with an answer that breaks off. */
		fail: (next: typeof fault) => (fault = next),
	}
}
