import type { ClientBase } from 'pg'

/** In milliseconds, for each wait for a lock. */
interface Limits {
	lock_timeout?: number
}

/**
 * When a machine has died, the database ends its sessions within a minute. By default it would keep their locks for two
 * hours, and each act that needs them would wait as long.
 */
const noticeDeath = `set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3;
	set tcp_user_timeout = 60000`

/**
 * Options of each connection to the database. If the machine at one end dies, the connection never answers and never ends.
 * Without these, a worker would wait for the answer for ever, and the database would keep the locks of a worker.
 *
 * The settings are a statement of their own: a pooler refuses a connection that states them as it opens.
 */
export const connecting = ({ lock_timeout }: Limits = {}) => ({
	keepAlive: true,
	keepAliveInitialDelayMillis: 10_000,
	async onConnect(client: ClientBase) {
		const limits = lock_timeout === undefined ? '' : `; set lock_timeout = ${lock_timeout}`
		await client.query(noticeDeath + limits)
	},
})
