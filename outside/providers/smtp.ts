import type { Message } from '../../mail/message.ts'
import { wireOf } from '../../mail/rendering.ts'
import { type DkimKey, isUnusableKey } from '../../mail/mime/dkim.ts'
import type { Outcome, Provider } from './provider.ts'
import { smtpPipeline } from './smtp-pipeline.ts'
import { smtpPool } from './smtp-pool.ts'
import type { HandOver, SmtpError, SmtpTimeouts } from './smtp-exchange.ts'
import { openSession } from './smtp-session.ts'
import { readSmtpUrl, toAscii } from './smtp-url.ts'
import { isStale, noConnection, verdict } from './smtp-verdict.ts'

export interface SmtpOptions {
	/** `smtp(s)://user:pass@host:port?pool=20`; see `readSmtpUrl` for the other options. */
	url: string
	/** The most connections; the URL's `pool` by default. */
	concurrency?: number
	timeouts?: Partial<SmtpTimeouts>
	idleMs?: number
	mailsPerConnection?: number
}

/**
 * Mail over SMTP. nodemailer connects, secures the connection, logs in and speaks SMTP. The pool and the
 * verdict are ours: nodemailer's pool doesn't report whether the final dot may have been sent, which
 * decides between a retry and doubt.
 */
export function smtpProvider(options: SmtpOptions): Provider {
	const { pool, ...server } = readSmtpUrl(options.url)
	const timeouts = { connectMs: 30_000, envelopeMs: 60_000, answerMs: 300_000, ...options.timeouts }
	const size = options.concurrency ?? pool
	const mailsPerConnection = options.mailsPerConnection ?? 500
	const connections = smtpPool({
		open: () => openSession({ ...server, timeouts }),
		size,
		idleMs: options.idleMs ?? 5000,
		mailsPerConnection,
	})
	const deliverReady = smtpPipeline({ connections, size, mailsPerConnection })

	function handOver(envelope: { from: string; to: string }, raw: Buffer, isFresh: boolean) {
		return connections.withSession(
			async (session) => {
				const result = await session.handOver(envelope, raw)
				if ('error' in result && result.stage === 'ENVELOPE' && session.isOpen())
					await session.reset()
				return { result, reused: session.used > 1 }
			},
			{ isFresh },
		)
	}

	async function converse(message: Message, raw: Buffer): Promise<HandOver> {
		const envelope = { from: toAscii(message.from.email), to: toAscii(message.to.email) }
		const { result, reused } = await handOver(envelope, raw, false)
		if (!reused || !isStale(result)) return result
		return (await handOver(envelope, raw, true)).result
	}

	async function deliver(message: Message, dkim?: DkimKey): Promise<Outcome> {
		let raw: Buffer
		try {
			raw = await wireOf(message, dkim)
		} catch (error) {
			if (isUnusableKey(error))
				return { kind: 'DEFERRED', error: reason(error), retryAfterMs: null }
			return { kind: 'REJECTED', error: `Unusable message: ${reason(error)}`, bounce: false }
		}
		try {
			return verdict(await converse(message, raw))
		} catch (error) {
			return noConnection(error as SmtpError) // openSession rejects only with this type
		}
	}

	return {
		name: 'smtp',
		idempotent: false,
		concurrency: size,
		deliver,
		deliverReady,
		close: connections.close,
	}
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))
