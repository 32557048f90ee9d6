import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ExecutionContext } from 'ava'
import { resendProvider } from '../../outside/providers/resend.ts'

/** Answers with the digest of the received body as the id. */
const server = `
const { createServer } = require('node:http')
const { createHash } = require('node:crypto')
const { parentPort } = require('node:worker_threads')
createServer(async (request, response) => {
	const digest = createHash('sha256')
	for await (const chunk of request) digest.update(chunk)
	const id = digest.digest('hex') + '/' + request.headers['content-length']
	response.setHeader('content-type', 'application/json')
	response.end(JSON.stringify(request.url === '/emails' ? { id } : { data: [{ id }, { id }] }))
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })`

/** The client of a Resend that runs on a thread, so its time is not measured. */
export async function resendOnThread(t: ExecutionContext) {
	const thread = new Worker(server, { eval: true })
	const [port] = (await once(thread, 'message')) as [number]
	const provider = resendProvider({ apiKey: 're_test', baseUrl: `http://127.0.0.1:${port}` })
	t.teardown(async () => {
		await provider.close()
		await thread.terminate()
	})
	return provider
}
