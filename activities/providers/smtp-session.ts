import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SMTPConnectionAuth, SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { burst, type Parcel } from './smtp-burst.ts'
import type { HandOver, SmtpTimeouts, Stage } from './smtp-exchange.ts'

export interface SmtpServer {
	connection: SMTPConnectionOptions
	auth: SMTPConnectionAuth | null
	timeouts: SmtpTimeouts
}

interface Envelope {
	from: string
	to: string
}

/** One logged-in connection: one mail at a time, any number one after the other. */
export interface Session {
	/** How many mails it has been given. */
	used: number
	isOpen(): boolean
	/** Never rejects. A session is fit for the next mail if it is open afterwards and reset. */
	handOver(envelope: Envelope, raw: Buffer): Promise<HandOver>
	/** Whether the server reads on before it has answered (RFC 2920). */
	isPipelining: boolean
	/** The same for many mails one behind the other, as they come from `next`. */
	burst(next: () => Parcel | undefined): Promise<void>
	/** Ends a transaction that the server refused half-way. */
	reset(): Promise<void>
	/** Says goodbye and waits, not for long, until the connection is gone. */
	quit(): Promise<void>
	onClose(listener: () => void): void
}

const CHUNK_BYTES = 64 * 1024
const GOODBYE_MS = 1000

/** Connects, upgrades to TLS where the server can, and logs in. Rejects with nodemailer's error. */
export async function openSession({ connection, auth, timeouts }: SmtpServer): Promise<Session> {
	const smtp = new SMTPConnection({
		...connection,
		connectionTimeout: timeouts.connectMs,
		greetingTimeout: timeouts.connectMs,
		dnsTimeout: timeouts.connectMs,
		socketTimeout: timeouts.answerMs,
	})
	await greet(smtp, auth, timeouts.connectMs)
	const session: Session = {
		used: 0,
		isOpen: () => !smtp.destroyed,
		handOver(envelope, raw) {
			session.used += 1
			return handOver(smtp, envelope, raw, timeouts.envelopeMs)
		},
		// nodemailer tells extensions to those only who bring their own login.
		isPipelining: (
			smtp as unknown as { _supportedExtensions: string[] }
		)._supportedExtensions.includes('PIPELINING'),
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
		reset: () => settle(smtp, timeouts.envelopeMs, (done) => smtp.reset(done)),
		quit: () => goodbye(smtp),
		onClose: (listener) => smtp.once('end', listener),
	}
	return session
}

async function greet(smtp: SMTPConnection, auth: SMTPConnectionAuth | null, timeoutMs: number) {
	let late: NodeJS.Timeout | undefined
	try {
		await new Promise<void>((resolve, reject) => {
			// nodemailer's own timer ends with the greeting; a server may also fall silent at EHLO or AUTH.
			late = setTimeout(() => reject(new Error('Timeout: no end of the greeting')), timeoutMs)
			// It stays: later errors are told by handOver, but without a listener would end the process.
			smtp.on('error', reject)
			smtp.once('end', () => reject(new Error('Connection closed unexpectedly')))
			smtp.connect((error) => {
				if (error) return reject(error)
				// As nodemailer's own transport does: a server that offers no login needs none.
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
 * Lends the connection itself. Meanwhile nodemailer hears nothing of what the server says, but still
 * notices the end of the connection and its silence.
 */
async function lend(
	smtp: SMTPConnection,
	work: (socket: Socket, onClosed: (listener: () => void) => () => void) => Promise<boolean>,
) {
	const socket = smtp._socket as Socket // there is one: it has greeted
	const ears = socket.listeners('data') as ((chunk: Buffer) => void)[]
	for (const ear of ears) socket.off('data', ear)
	const isFit = await work(socket, (listener) => {
		smtp.once('end', listener)
		return () => smtp.removeListener('end', listener)
	})
	if (!isFit) return smtp.close()
	for (const ear of ears) socket.on('data', ear)
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
		// nodemailer reads from the stream when the server has said 354, never before: the first read
		// tells that the content leaves. Back-pressure holds the last chunk, and with it the dot, back
		// while more than some buffers' worth is unsent; so a big mail cut short is surely not taken.
		let offset = 0
		const content = new Readable({
			highWaterMark: CHUNK_BYTES,
			read() {
				clearTimeout(silence)
				const chunk = raw.subarray(offset, (offset += CHUNK_BYTES))
				stage = offset < raw.length ? 'CONTENT' : 'DOT'
				this.push(chunk)
				if (stage === 'DOT') this.push(null)
			},
		})
		smtp.send({ ...envelope, size: raw.length }, content, (error, info) => {
			// An answer to a mail whose end is still here: what follows on this connection is noise.
			if (stage === 'CONTENT') smtp.close()
			if (error) return finish({ error, stage })
			if (!info) return finish({ error: new Error('nodemailer gave no answer'), stage })
			if (stage !== 'DOT')
				return finish({ error: new Error(`An early answer: ${info.response}`), stage: 'DOT' })
			return finish({ reply: info.response })
		})
	})
}

/** A connection that does not answer, or answers badly, is closed: the next mail deserves better. */
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
