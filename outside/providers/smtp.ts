import type { EncodedMail } from '../../mail/encoding.ts'
import { encodingFirst } from './encoding-first.ts'
import type { Outcome, Provider } from './provider.ts'
import { smtpPipeline } from './smtp-pipeline.ts'
import { smtpPool } from './smtp-pool.ts'
import type { HandOver, SmtpError, SmtpTimeouts } from './smtp-exchange.ts'
import { openSession, type Session } from './smtp-session.ts'
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

	function handOver(envelope: Parameters<Session['handOver']>[0], raw: Buffer, isFresh: boolean) {
		return connections.withSession(
			async (session) => {
				const result = await session.handOver(envelope, raw)
				return { result, reused: session.used > 1 }
			},
			{ isFresh },
		)
	}

	async function converse({
		from,
		to,
		cc = [],
		bcc = [],
		content,
	}: EncodedMail): Promise<HandOver> {
		const copies = [...cc, ...bcc].map(toAscii)
		const envelope = {
			from: toAscii(from),
			to: toAscii(to),
			...(copies.length > 0 && { copies }),
		}
		const { result, reused } = await handOver(envelope, content, false)
		if (!reused || !isStale(result)) return result
		return (await handOver(envelope, content, true)).result
	}

	async function deliverEncoded(mail: EncodedMail): Promise<Outcome> {
		try {
			return withCopies(mail, verdict(await converse(mail)))
		} catch (error) {
			return noConnection(error as SmtpError) // openSession rejects only with this type
		}
	}

	return {
		name: 'smtp',
		idempotent: false,
		concurrency: size,
		deliver: encodingFirst(deliverEncoded),
		encoding: 'signed mime',
		deliverEncoded,
		deliverReady,
		close: connections.close,
	}
}

/** The server was given other forms of some addresses. */
function withCopies({ cc = [], bcc = [] }: EncodedMail, outcome: Outcome): Outcome {
	if (outcome.kind !== 'SENT' || !outcome.refusedCopies) return outcome
	const { refusedCopies } = outcome
	const named = [...cc, ...bcc].flatMap((email) => {
		const answer = refusedCopies[toAscii(email)]
		return answer === undefined ? [] : [[email, answer]]
	})
	return { ...outcome, refusedCopies: Object.fromEntries(named) as Record<string, string> }
}
