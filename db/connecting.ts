import type { ClientBase } from 'pg'

/** In milliseconds, for each wait for a lock. */
interface Limits {
	lock_timeout?: number
}

/**
 * The database ends the session of a machine that has died after a minute. Otherwise it would keep that machine's locks
 * for two hours, and each act that needs them would wait as long.
 */
const noticeDeath = `set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3;
	set tcp_user_timeout = 60000`

/**
 * A new connection to the database. A connection whose other end has died never answers and never hangs up. Without this,
 * each end would wait for ever, or nearly: a worker for an answer, the database with the locks of a worker.
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
