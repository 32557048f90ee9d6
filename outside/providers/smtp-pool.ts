import type { SmtpError } from './smtp-exchange.ts'
import type { Session } from './smtp-session.ts'

export interface SmtpPool {
	/** Runs `work` with a session of its own. Rejects if no connection can be made. */
	withSession<T>(work: (session: Session) => Promise<T>, wish?: Wish): Promise<T>
	/** A single mail waits for a connection, so long users of one should release it soon. */
	isWanted(): boolean
	/** Lets the busy connections finish, then closes all. */
	close(): Promise<void>
}

interface Wish {
	/** Requires a connection that has not been used before. */
	isFresh?: boolean
	/** The session is for many mails. Other users with many mails need not make way for it. */
	isPatient?: boolean
}

export interface SmtpPoolOptions {
	open: () => Promise<Session>
	size: number
	/** Shorter than the time-outs of servers and firewalls, so that an idle connection is still alive. */
	idleMs: number
	/** Some servers close a connection after a number of mails. */
	mailsPerConnection: number
}

/** After this time a server that wanted fewer connections is asked for more again. */
const MODESTY_MS = 60_000

/** Connections are opened on demand, reused while they are alive, and closed when idle. */
export function smtpPool({ open, size, idleMs, mailsPerConnection }: SmtpPoolOptions): SmtpPool {
	const idle: { session: Session; since: number }[] = []
	const waiting: { go: () => void; isPatient: boolean }[] = []
	let busy = 0
	let established = 0
	let limit = size
	let growAgain: NodeJS.Timeout | undefined
	let sweep: NodeJS.Timeout | undefined
	let whenEmpty: (() => void) | undefined

	async function takePlace(isPatient: boolean) {
		while (busy >= limit) await new Promise<void>((go) => waiting.push({ go, isPatient }))
		busy += 1
	}

	function leavePlace() {
		busy -= 1
		const next = waiting.shift()
		if (next) next.go()
		else if (busy === 0) whenEmpty?.()
	}

	async function connect() {
		const session = await open()
		established += 1
		session.onClose(() => {
			established -= 1
			const index = idle.findIndex((entry) => entry.session === session)
			if (index >= 0) idle.splice(index, 1)
		})
		return session
	}

	async function takeSession({ isFresh = false, isPatient = false }: Wish): Promise<Session> {
		for (let fresh = isFresh; ; fresh = false) {
			await takePlace(isPatient)
			try {
				// The most recently used first, so that the others become idle and are closed.
				const warm = idle.pop()?.session
				if (warm && !fresh) return warm
				if (warm) void warm.quit()
				return await connect()
			} catch (error) {
				leavePlace()
				if (!wantsFewer(error as SmtpError)) throw error // open rejects only with this type
			}
		}
	}

	// «Too many connections» is no failure while other connections work.
	function wantsFewer({ responseCode }: SmtpError) {
		if (!responseCode || responseCode >= 500 || established === 0) return false
		limit = Math.min(limit, established)
		clearTimeout(growAgain)
		growAgain = setTimeout(() => {
			limit = size
			for (const { go } of waiting.splice(0)) go()
		}, MODESTY_MS).unref()
		return true
	}

	function keep(session: Session) {
		if (!session.isOpen()) return
		if (session.used >= mailsPerConnection) return void session.quit()
		idle.push({ session, since: performance.now() })
		sweep ??= setTimeout(endCold, idleMs)
	}

	function endCold() {
		const coldSince = performance.now() - idleMs
		while (idle[0] && idle[0].since <= coldSince) void idle.shift()?.session.quit()
		sweep = idle[0] && setTimeout(endCold, idle[0].since - coldSince)
	}

	return {
		async withSession(work, wish = {}) {
			const session = await takeSession(wish)
			try {
				return await work(session)
			} finally {
				keep(session)
				leavePlace()
			}
		},
		isWanted: () => waiting.some(({ isPatient }) => !isPatient),
		async close() {
			if (busy > 0) await new Promise<void>((resolve) => (whenEmpty = resolve))
			clearTimeout(growAgain)
			clearTimeout(sweep)
			await Promise.all(idle.splice(0).map(({ session }) => session.quit()))
		},
	}
}
