import type { FastifyInstance } from 'fastify'

/**
 * Some proxies write the port after an address in X-Forwarded-For. It is removed, so that a client always
 * has the same address and a trusted proxy is recognised.
 */
export function readForwarded(app: FastifyInstance) {
	app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
		const given = headers['x-forwarded-for']
		if (typeof given === 'string')
			headers['x-forwarded-for'] = given
				.split(',')
				.map((address) => withoutPort(address.trim()))
				.join(', ')
		done()
	})
}

const withoutPort = (address: string) =>
	/^(\d+(?:\.\d+){3}):\d+$/.exec(address)?.[1] ??
	/^\[([\da-f:.]+)\](?::\d+)?$/i.exec(address)?.[1] ??
	address
