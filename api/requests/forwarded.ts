import type { FastifyInstance } from 'fastify'

/**
 * Some proxies write the port behind an address in X-Forwarded-For. Without it, the same client is the
 * same address each time, and a proxy that is trusted is recognised.
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
