import type { Outcome, ReadyMail } from './provider.ts'
import type { Parcel } from './smtp-burst.ts'
import type { SmtpPool } from './smtp-pool.ts'
import type { HandOver, SmtpError } from './smtp-exchange.ts'
import type { Session } from './smtp-session.ts'
import { toAscii } from './smtp-url.ts'
import { isStale, noConnection, verdict } from './smtp-verdict.ts'

interface Job {
	mail: ReadyMail
	wasStale: boolean
	done(outcome: Outcome): void
}

/** Of so many connections campaigns leave one to single mails, which are given others soon, too. */
const connectionsForOneFree = 20

/**
 * Campaign mail over SMTP: waits in one line for a few connections, on each of which it goes one behind
 * the other. A connection that a single mail waits for is given up after the mail that is under way.
 */
export function smtpPipeline({
	connections,
	size,
	mailsPerConnection,
}: {
	connections: SmtpPool
	size: number
	mailsPerConnection: number
}) {
	const most = Math.max(1, size - Math.ceil(size / connectionsForOneFree))
	const queue: Job[] = []
	let active = 0

	function start() {
		if (active < most && queue.length > 0) void run()
	}

	async function run() {
		active += 1
		let fault: SmtpError | undefined
		try {
			await connections.withSession(
				(session) => (session.isPipelining ? stream(session) : oneByOne(session)),
				{ isPatient: true },
			)
		} catch (error) {
			fault = error as SmtpError // open rejects with nothing else
		}
		active -= 1
		// Another try would end as this one did. As long as others get through, their connections are
		// enough; the last to fail tells everybody who waits.
		if (!fault) start()
		else if (active === 0) for (const { done } of queue.splice(0)) done(noConnection(fault))
	}

	const stream = (session: Session) => session.burst(() => take(session)?.parcel)

	/** For servers that want each command by itself. */
	async function oneByOne(session: Session) {
		for (let taken = take(session); taken; taken = take(session)) {
			const { from, to, raw, done } = taken.parcel
			const result = await session.handOver({ from, to }, Buffer.from(raw, 'latin1'))
			if ('error' in result && result.stage === 'ENVELOPE' && session.isOpen())
				await session.reset()
			done(result)
			if (!session.isOpen()) return
		}
	}

	/** The next mail for this connection, unless it should do something else. */
	function take(session: Session): { parcel: Parcel } | undefined {
		while (queue.length > 0 && !connections.isWanted() && session.used < mailsPerConnection) {
			const job = queue.shift()!
			try {
				const { from, to } = job.mail
				const wasUsed = session.used > 0
				const done = (result: HandOver) => settle(job, result, wasUsed)
				return { parcel: { from: pathOf(from), to: pathOf(to), raw: job.mail.raw(), done } }
			} catch (error) {
				job.done({ kind: 'REJECTED', error: `Unusable message: ${String(error)}`, bounce: false })
			}
		}
		return undefined
	}

	function settle(job: Job, result: HandOver, wasUsed: boolean) {
		if (wasUsed && !job.wasStale && isStale(result)) {
			job.wasStale = true
			queue.unshift(job)
			start()
		} else job.done(verdict(result))
	}

	return (mail: ReadyMail) =>
		new Promise<Outcome>((done) => {
			queue.push({ mail, wasStale: false, done })
			start()
		})
}

/** As it may stand between < and >; what is not ASCII even so needs SMTPUTF8, and more than a pipeline. */
function pathOf(address: string) {
	const path = toAscii(address)
	if (!/^[!-;=?-~]+$/.test(path)) throw new Error('An address contains what no address may')
	return path
}
