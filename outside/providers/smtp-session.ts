import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SMTPConnectionAuth, SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { takeTurn } from '../../db/event-loop.ts'
import { burst, type Parcel } from './smtp-burst.ts'
import { type CopiedMail, handOverCopied } from './smtp-copies.ts'
import type { HandOver, SmtpTimeouts, Stage } from './smtp-exchange.ts'

export interface SmtpServer {
	connection: SMTPConnectionOptions
	auth: SMTPConnectionAuth | null
	timeouts: SmtpTimeouts
}

interface Envelope {
	from: string
	to: string
	/** Further recipients. */
	copies?: string[]
}

/** One logged-in connection. It carries any number of mails, one at a time. */
export interface Session {
	/** How many mails it has carried. */
	used: number
	isOpen(): boolean
	/** Never rejects. Afterwards the session can take the next mail if it is still open. */
	handOver(envelope: Envelope, raw: Buffer): Promise<HandOver>
	/** Whether the server accepts further commands before it has answered (RFC 2920). */
	isPipelining: boolean
	/** Hands over many mails in a row, as `next` returns them. */
	burst(next: () => Parcel | undefined): Promise<void>
	/** Sends QUIT and waits briefly until the connection is closed. */
	quit(): Promise<void>
	onClose(listener: () => void): void
}

/** The server's announcements. nodemailer reveals it only to callers that bring their own login. */
interface Announced {
	_supportedExtensions: string[]
	/** 0: no limit. */
	_maxAllowedSize: number
}

const CHUNK_BYTES = 64 * 1024
const GOODBYE_MS = 1000

/** Connects, upgrades to TLS if the server can, and logs in. Rejects with nodemailer's error. */
export async function openSession({ connection, auth, timeouts }: SmtpServer): Promise<Session> {
	const smtp = new SMTPConnection({
		...connection,
		connectionTimeout: timeouts.connectMs,
		greetingTimeout: timeouts.connectMs,
		dnsTimeout: timeouts.connectMs,
		socketTimeout: timeouts.answerMs,
	})
	await greet(smtp, auth, timeouts.connectMs)
	const announced = smtp as unknown as Announced
	const session: Session = {
		used: 0,
		isOpen: () => !smtp.destroyed,
		async handOver(envelope, raw) {
			const isSmall = raw.length <= Math.min(CHUNK_BYTES, announced._maxAllowedSize || Infinity)
			if (envelope.copies) return handOverCopies({ ...envelope, copies: envelope.copies }, raw)
			if (session.isPipelining && isSmall && isSimple(envelope, raw))
				return handOverAtOnce(session, envelope, raw)
			session.used += 1
			const result = await handOver(smtp, envelope, raw, timeouts.envelopeMs)
			// Ends a transaction that the server refused half-way.
			if ('error' in result && result.stage === 'ENVELOPE' && session.isOpen())
				await settle(smtp, timeouts.envelopeMs, (done) => smtp.reset(done))
			return result
		},
		isPipelining: announced._supportedExtensions.includes('PIPELINING'),
		burst: (next) =>
			lend(smtp, (socket, onClosed) =>
				burst(
					socket,
					() => {
						const parcel = next()
						if (parcel) session.used += 1
						return parcel
					},
					timeouts,
					onClosed,
				),
			),
		quit: () => goodbye(smtp),
		onClose: (listener) => smtp.once('end', listener),
	}
	return session

	async function handOverCopies(envelope: Omit<CopiedMail, 'raw'>, raw: Buffer): Promise<HandOver> {
		session.used += 1
		const { _supportedExtensions: extensions, _maxAllowedSize: mostBytes } = announced
		const paths = [envelope.from, envelope.to, ...envelope.copies]
		if (paths.some((path) => path === '' || /[\s<>]/.test(path)))
			return ownRefusal('EENVELOPE', 'An address contains characters that are not allowed')
		if (mostBytes && raw.length > mostBytes)
			return ownRefusal('EMESSAGE', `Message size larger than allowed ${mostBytes}`)
		let ended: HandOver | undefined
		await lend(smtp, async (socket, onClosed) => {
			const { isPipelining } = session
			const isUtf8 = extensions.includes('SMTPUTF8')
			const conversation = { socket, timeouts, isPipelining, isUtf8, onClosed }
			const { result, isFit } = await handOverCopied({ ...envelope, raw }, conversation)
			ended = result
			return isFit
		})
		return ended!
	}
}

/** In nodemailer's terms, which `verdict` expects. */
const ownRefusal = (code: string, message: string): HandOver => ({
	error: Object.assign(new Error(message), { code }),
	stage: 'ENVELOPE',
})

async function greet(smtp: SMTPConnection, auth: SMTPConnectionAuth | null, timeoutMs: number) {
	let late: NodeJS.Timeout | undefined
	try {
		await new Promise<void>((resolve, reject) => {
			// nodemailer's own timer ends with the greeting, but a server may also fall silent at EHLO or AUTH.
			late = setTimeout(() => reject(new Error('Timeout: no end of the greeting')), timeoutMs)
			// It stays: handOver reports later errors, but without a listener they would end the process.
			smtp.on('error', reject)
			smtp.once('end', () => reject(new Error('Connection closed unexpectedly')))
			smtp.connect((error) => {
				if (error) return reject(error)
				// Like nodemailer's transport: a server that offers no login needs none.
				if (!auth || !smtp.allowsAuth) return resolve()
				// A copy, because nodemailer writes into it.
				return smtp.login({ ...auth }, (failed) => (failed ? reject(failed) : resolve()))
			})
		})
	} catch (error) {
		smtp.close()
		throw error
	} finally {
		clearTimeout(late)
	}
}

/**
 * Lends the connection itself. Meanwhile nodemailer doesn't see the server's answers, but it still notices
 * silence and the end of the connection.
 */
async function lend(
	smtp: SMTPConnection,
	work: (socket: Socket, onClosed: (listener: () => void) => () => void) => Promise<boolean>,
) {
	const socket = smtp._socket as Socket // set, because the server has greeted
	const ears = socket.listeners('data') as ((chunk: Buffer) => void)[]
	for (const ear of ears) socket.off('data', ear)
	const isFit = await work(socket, (listener) => {
		smtp.once('end', listener)
		return () => smtp.removeListener('end', listener)
	})
	if (!isFit) return smtp.close()
	for (const ear of ears) socket.on('data', ear)
}

/** Needs nothing that only nodemailer does: no SMTPUTF8, no doubled dots. */
const isSimple = ({ from, to }: Envelope, raw: Buffer) =>
	isPath(from) && isPath(to) && raw.subarray(-2).equals(lineBreak) && !raw.includes(dottedLine)

/** Whether an address can be written between < and > without SMTPUTF8. */
export const isPath = (address: string) => /^[!-;=?-~]+$/.test(address)

const lineBreak = Buffer.from('\r\n')
const dottedLine = Buffer.from('\r\n.')

/** A single mail as the shortest burst: two round trips and a third of the time nodemailer takes. */
async function handOverAtOnce(session: Session, { from, to }: Envelope, raw: Buffer) {
	const { promise, resolve: done } = Promise.withResolvers<HandOver>()
	let parcel: Parcel | undefined = { from, to, raw: raw.toString('latin1'), done }
	await session.burst(() => {
		const next = parcel
		parcel = undefined
		return next
	})
	return promise
}

function handOver(smtp: SMTPConnection, envelope: Envelope, raw: Buffer, envelopeMs: number) {
	return new Promise<HandOver>((resolve) => {
		let stage: Stage = 'ENVELOPE'
		const finish = (result: HandOver) => {
			clearTimeout(silence)
			resolve(result)
		}
		const silence = setTimeout(() => {
			finish({ error: new Error('Timeout: no answer to the envelope'), stage })
			smtp.close()
		}, envelopeMs)
		// nodemailer reads from the stream only after the server's 354, so the first read shows that content is
		// being sent. Back-pressure holds the last chunk, with its dot, while more than a few buffers are
		// unsent. So a large mail that is cut short was certainly not accepted.
		let offset = 0
		const content = new Readable({
			highWaterMark: CHUNK_BYTES,
			read() {
				clearTimeout(silence)
				// A server that keeps up takes a whole mail of 27 MB within one turn of 114 ms.
				void takeTurn().then(() => {
					const chunk = raw.subarray(offset, (offset += CHUNK_BYTES))
					stage = offset < raw.length ? 'CONTENT' : 'DOT'
					this.push(chunk)
					if (stage === 'DOT') this.push(null)
				})
			},
		})
		smtp.send({ ...envelope, size: raw.length }, content, (error, info) => {
			// The server answered before the end of the mail was sent, so later answers on this connection are
			// unreliable.
			if (stage === 'CONTENT') smtp.close()
			if (error) return finish({ error, stage })
			if (!info) return finish({ error: new Error('nodemailer gave no answer'), stage })
			if (stage !== 'DOT')
				return finish({ error: new Error(`An early answer: ${info.response}`), stage: 'DOT' })
			return finish({ reply: info.response })
		})
	})
}

/** Closes a connection that doesn't answer or answers badly, so the next mail gets a good one. */
function settle(
	smtp: SMTPConnection,
	timeoutMs: number,
	ask: (done: (error: Error | null) => void) => void,
) {
	return new Promise<void>((resolve) => {
		const late = setTimeout(() => smtp.close(), timeoutMs)
		const finish = () => {
			clearTimeout(late)
			smtp.removeListener('end', finish)
			resolve()
		}
		smtp.once('end', finish)
		ask((error) => {
			if (error) smtp.close()
			finish()
		})
	})
}

function goodbye(smtp: SMTPConnection) {
	return new Promise<void>((resolve) => {
		if (smtp.destroyed) return resolve()
		const late = setTimeout(() => smtp.close(), GOODBYE_MS)
		smtp.once('end', () => {
			clearTimeout(late)
			resolve()
		})
		return smtp.quit()
	})
}
