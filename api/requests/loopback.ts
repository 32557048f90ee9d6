import type { FastifyRequest } from 'fastify'
import { BlockList } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')
const localHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Whether a request comes from this machine, under a local name and without a proxy. Otherwise a page on
 * another site could make it through a developer's browser, or anyone through a proxy on this machine.
 */
export function isFromThisMachine({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>) {
	const address = socket.remoteAddress ?? ''
	const isLocal = loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
	const isForwarded = proxyHeaders.some((name) => headers[name] !== undefined)
	return isLocal && !isForwarded && localHost.test(headers.host ?? '')
}
