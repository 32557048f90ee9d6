import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut and mended. */
export async function cuttableWay(host: string, serverPort: number) {
	const sockets = new Set<Socket>()
	const proxy = createServer((socket) => {
		const onward = connect(serverPort, host)
		for (const end of [socket, onward]) sockets.add(end.on('error', () => {}))
		socket.pipe(onward).pipe(socket)
	})
	const listen = async (port: number) =>
		void (await once(proxy.listen(port, '127.0.0.1'), 'listening'))
	await listen(0)
	const { port } = proxy.address() as AddressInfo
	function cut() {
		proxy.close()
		for (const socket of sockets) socket.destroy()
	}
	return { port, cut, mend: () => listen(port) }
}
