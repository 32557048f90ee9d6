import type { Pool, PoolClient } from 'pg'
import type { Socket } from 'node:net'
import { isTurnOver } from './event-loop.ts'

/**
 * Rows are parsed as they arrive, and many large ones arrive at once. Without pauses, a page of 100
 * contacts with 64 KB of data each would block the event loop for a quarter of a second.
 */
export function paceReading(pool: Pool) {
	pool.on('connect', (client) => {
		const socket = socketOf(client)
		// Before the parser, so that its time counts.
		socket.prependListener('data', isTurnOver)
		socket.on('data', () => {
			if (!isTurnOver()) return
			socket.pause()
			setImmediate(() => socket.resume())
		})
	})
}

const socketOf = (client: PoolClient) =>
	(client as unknown as { connection: { stream: Socket } }).connection.stream
