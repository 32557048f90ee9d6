import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../errors.ts'

/**
 * A function that ends an arriving body with an error. For its reader, the body breaks off here, or as soon
 * as it is read; the reader answers.
 */
export function breakableBody({ raw }: FastifyRequest, reply: FastifyReply) {
	// A body's reader handles its errors, but only while it reads.
	raw.on('error', ignore)
	/** How many listen for errors while nobody reads the body. */
	const idle = raw.listenerCount('error')

	return function breakOff(error: ApiError) {
		reply.header('connection', 'close')
		const breaks = () => raw.emit('error', error)
		if (raw.listenerCount('error') > idle) return void breaks()
		// A form is read by its handler, which other work may delay.
		raw.on('newListener', function onReader(event: string | symbol) {
			if (event !== 'error') return
			raw.off('newListener', onReader)
			process.nextTick(breaks)
		})
	}
}

const ignore = () => {}
