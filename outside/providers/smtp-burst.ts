import type { Socket } from 'node:net'
import type { HandOver, SmtpError, SmtpTimeouts, Stage } from './smtp-exchange.ts'

/** A mail to be sent: one character per byte, no line starting with a dot, with a line break at its end. */
export interface Parcel {
	from: string
	to: string
	raw: string
	/** Whether it must not leave any more. Absent: it always may. */
	isWithdrawn?(): boolean
	done(result: HandOver): void
}

type Verb = 'RSET' | 'MAIL FROM' | 'RCPT TO' | 'DATA' | 'CONTENT' | 'NOTHING'

interface Expected {
	verb: Verb
	/** null: RSET belongs to no mail. */
	transfer: Transfer | null
}

interface Transfer {
	parcel: Parcel
	stage: Stage
	/** The first command that was refused; the refusals after it only follow from it. */
	refusal: SmtpError | null
	isSettled: boolean
}

/**
 * Hands mails over one after the other without waiting, as long as `next` returns any. MAIL, RCPT and DATA
 * of the next mail follow the last dot at once, as RFC 2920 allows; its content follows the server's 354.
 * So at most one mail is in doubt when the connection is lost. Resolves once everything is answered, with
 * whether the connection can be used again.
 */
export function burst(
	socket: Socket,
	next: () => Parcel | undefined,
	{ envelopeMs, answerMs }: Pick<SmtpTimeouts, 'envelopeMs' | 'answerMs'>,
	onClosed: (listener: () => void) => () => void,
): Promise<boolean> {
	return new Promise((resolve) => {
		const expected: Expected[] = []
		let unread = ''
		let lines = ''
		let needsReset = false
		let heardAt = performance.now()
		let timer = setTimeout(listen, envelopeMs)
		const forget = onClosed(() => fail(new Error('Connection closed unexpectedly')))
		let isOver = false
		socket.on('data', hear)
		goOn()

		function goOn() {
			const group = nextGroup()
			if (group !== '') socket.write(group, 'latin1')
			else if (needsReset) {
				needsReset = false
				expected.push({ verb: 'RSET', transfer: null })
				socket.write('RSET\r\n', 'latin1')
			} else end(true)
		}

		/** The commands that announce the next mail; empty if there is none. */
		function nextGroup() {
			const parcel = next()
			if (!parcel) return ''
			const transfer: Transfer = { parcel, stage: 'ENVELOPE', refusal: null, isSettled: false }
			let group = `MAIL FROM:<${parcel.from}>\r\nRCPT TO:<${parcel.to}>\r\nDATA\r\n`
			if (needsReset) {
				expected.push({ verb: 'RSET', transfer: null })
				group = `RSET\r\n${group}`
				needsReset = false
			}
			expected.push(
				{ verb: 'MAIL FROM', transfer },
				{ verb: 'RCPT TO', transfer },
				{ verb: 'DATA', transfer },
			)
			return group
		}

		function hear(chunk: Buffer) {
			heardAt = performance.now()
			unread += chunk.toString('latin1')
			for (let at = unread.indexOf('\n'); at >= 0 && !isOver; at = unread.indexOf('\n')) {
				const line = unread.slice(0, unread[at - 1] === '\r' ? at - 1 : at)
				unread = unread.slice(at + 1)
				lines += lines === '' ? line : `\n${line}`
				if (line[3] === '-') continue
				const reply = lines
				lines = ''
				obey(reply)
			}
			if (unread.length + lines.length > longestReply) fail(new Error('An endless reply'))
		}

		function obey(reply: string) {
			const code = /^[2-5]\d\d(?: |$|-)/.test(reply) ? Number(reply.slice(0, 3)) : 0
			const answered = expected.shift()
			if (!answered || code === 0) {
				if (answered) expected.unshift(answered)
				return fail(new Error(`An unexpected reply: ${reply.slice(0, 200)}`))
			}
			const { verb, transfer } = answered
			const isRefused = code >= 400
			if (isRefused && transfer) {
				transfer.refusal ??= refusal(reply, code, verb)
				if (code === 421) return leave(transfer, 'The server ended the connection')
			} else if (verb === 'NOTHING') needsReset = false
			else if (isRefused || (code === 354) !== (verb === 'DATA')) {
				expected.unshift(answered)
				return fail(new Error(`An unexpected reply: ${reply.slice(0, 200)}`))
			}
			if (verb === 'DATA') {
				if (transfer!.refusal) drop(transfer!, code)
				else give(transfer!)
			} else if (verb === 'CONTENT') {
				// A server that answers before the whole mail was sent would misread the commands that follow.
				const isEarly = socket.writableLength > 0
				settle(transfer!, transfer!.refusal ? null : reply)
				if (isEarly) return fail(new Error('An early answer'))
			}
			if (expected.length === 0 && !isOver) goOn()
		}

		function give(transfer: Transfer) {
			// The server waits for its content, so only the end of the connection takes it back.
			if (transfer.parcel.isWithdrawn?.()) return leave(transfer, 'The mail was withdrawn')
			transfer.stage = 'DOT'
			expected.push({ verb: 'CONTENT', transfer })
			socket.write(`${transfer.parcel.raw}.\r\n${nextGroup()}`, 'latin1')
		}

		/** If the server wants the content of a mail it refused, it gets none (RFC 2920, 3.1). */
		function drop(transfer: Transfer, code: number) {
			settle(transfer, null)
			needsReset = true
			if (code !== 354) return
			expected.push({ verb: 'NOTHING', transfer })
			socket.write('.\r\n', 'latin1')
		}

		/** Ends the connection, for this mail and all mails after it. */
		function leave(transfer: Transfer, because: string) {
			const error = new Error(because)
			transfer.refusal ??= error
			settle(transfer, null)
			fail(error)
		}

		function settle(transfer: Transfer, reply: string | null) {
			if (transfer.isSettled) return
			transfer.isSettled = true
			const { parcel, refusal, stage } = transfer
			parcel.done(reply === null ? { error: refusal!, stage } : { reply })
		}

		function listen() {
			const patienceMs = expected.some(({ verb }) => verb === 'CONTENT') ? answerMs : envelopeMs
			const leftMs = heardAt + patienceMs - performance.now()
			if (leftMs > 0) timer = setTimeout(listen, Math.min(leftMs, envelopeMs))
			else fail(new Error('Timeout: no answer from the server'))
		}

		function fail(error: SmtpError) {
			if (isOver) return
			end(false)
			for (const { transfer } of expected)
				if (transfer && !transfer.isSettled) {
					transfer.refusal ??= error
					settle(transfer, null)
				}
		}

		function end(isFit: boolean) {
			if (isOver) return
			isOver = true
			clearTimeout(timer)
			forget()
			socket.off('data', hear)
			resolve(isFit && unread === '' && lines === '')
		}
	})
}

const longestReply = 64 * 1024

/** In nodemailer's terms, which `verdict` expects. */
export function refusal(response: string, responseCode: number, verb: Verb): SmtpError {
	const isContent = verb === 'CONTENT'
	return Object.assign(new Error(response), {
		code: isContent ? 'EMESSAGE' : 'EENVELOPE',
		command: isContent ? 'DATA' : verb,
		response,
		responseCode,
	})
}
