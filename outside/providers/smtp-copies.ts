import type { Socket } from 'node:net'
import { takeTurn } from '../../db/event-loop.ts'
import { refusal } from './smtp-burst.ts'
import type { HandOver, SmtpError, SmtpTimeouts, Stage } from './smtp-exchange.ts'

/** A mail with several recipients. */
export interface CopiedMail {
	from: string
	/** Without it nobody gets the mail. */
	to: string
	copies: string[]
	raw: Buffer
}

interface Conversation {
	socket: Socket
	timeouts: Pick<SmtpTimeouts, 'envelopeMs' | 'answerMs'>
	/** Whether the server takes several commands at once (RFC 2920). */
	isPipelining: boolean
	/** Whether it takes addresses that are not ASCII. */
	isUtf8: boolean
	onClosed(listener: () => void): () => void
}

/**
 * Hands over a mail with copies. DATA follows once all recipients are answered: sent along with them, as for a mail
 * to one recipient, it could reach the copies although the recipient was refused. Resolves with the result, and with
 * whether the connection can be used again.
 */
export async function handOverCopied(mail: CopiedMail, conversation: Conversation) {
	const { socket, timeouts, isPipelining, isUtf8, onClosed } = conversation
	const replies = readReplies(socket, onClosed)
	let stage: Stage = 'ENVELOPE'
	const ended = (error: SmtpError, isFit: boolean) => ({
		result: { error, stage } satisfies HandOver,
		isFit: isFit && error.responseCode !== 421 && replies.areRead(),
	})
	try {
		const answers = await agree()
		const [refused] = answers.slice(0, 2).filter((answer) => answer !== null)
		const leaving = answers.find((answer) => answer?.responseCode === 421)
		if (leaving) return ended(leaving, false)
		if (refused) return ended(refused, await reset())
		socket.write('DATA\r\n')
		const start = await reply('DATA', timeouts.envelopeMs, 354)
		if (start.refusal) return ended(start.refusal, await reset())
		await give()
		const end = await reply('CONTENT', timeouts.answerMs)
		if (end.refusal) return ended(end.refusal, true)
		const refusedCopies = Object.fromEntries(
			mail.copies.flatMap((copy, place) => {
				const answer = answers[place + 2]
				return answer ? [[copy, answer.message] as const] : []
			}),
		)
		const isAnyRefused = Object.keys(refusedCopies).length > 0
		const result: HandOver = { reply: end.text, ...(isAnyRefused && { refusedCopies }) }
		return { result, isFit: replies.areRead() }
	} catch (error) {
		return ended(error as SmtpError, false) // the conversation throws only these
	} finally {
		replies.stop()
	}

	/** The refusals of MAIL and of each RCPT, or null. */
	async function agree() {
		const paths = [mail.to, ...mail.copies]
		const needsUtf8 = isUtf8 && [mail.from, ...paths].some((path) => /[^\0-\x7f]/.test(path))
		const commands = [
			`MAIL FROM:<${mail.from}>${needsUtf8 ? ' SMTPUTF8 BODY=8BITMIME' : ''}\r\n`,
			...paths.map((path) => `RCPT TO:<${path}>\r\n`),
		]
		const groups = isPipelining ? [commands] : commands.map((command) => [command])
		const answers: (SmtpError | null)[] = []
		for (const group of groups) {
			socket.write(group.join(''))
			for (const command of group) {
				const verb = command.startsWith('MAIL') ? 'MAIL FROM' : 'RCPT TO'
				answers.push((await reply(verb, timeouts.envelopeMs)).refusal)
			}
			if (answers.slice(0, 2).some((answer) => answer)) break
		}
		return answers
	}

	async function reply(verb: Parameters<typeof refusal>[2], patienceMs: number, wanted = 250) {
		const text = await replies.next(patienceMs)
		const code = Number(text.slice(0, 3))
		if (code >= 400) return { text, refusal: refusal(text, code, verb) }
		if ((code === 354) !== (wanted === 354))
			throw new Error(`An unexpected reply: ${text.slice(0, 200)}`)
		return { text, refusal: null }
	}

	/** The last part waits until the others have left: a mail cut short was certainly not accepted. */
	async function give() {
		for (let at = 0; at < mail.raw.length; at += chunkBytes) {
			await takeTurn()
			if (socket.destroyed) throw new Error(lost)
			const part = stuffed(mail.raw, at)
			stage = at + chunkBytes < mail.raw.length ? 'CONTENT' : 'DOT'
			if (socket.write(stage === 'DOT' ? `${part}${endOf(mail.raw)}` : part, 'latin1')) continue
			if (stage === 'DOT') return
			await replies.whenDrained(timeouts.answerMs)
			if (!replies.areRead()) {
				// The server answers before the end, so later answers on this connection are unreliable.
				const { text, refusal } = await reply('CONTENT', 0)
				throw refusal ?? new Error(`An early answer: ${text.slice(0, 200)}`)
			}
		}
	}

	/** Ends the transaction, which the server may have begun for some recipients. */
	async function reset() {
		try {
			socket.write('RSET\r\n')
			return (await reply('RSET', timeouts.envelopeMs)).refusal === null
		} catch {
			return false
		}
	}
}

const lost = 'Connection closed unexpectedly'
const lineEnd = Buffer.from('\r\n')
const chunkBytes = 64 * 1024
const longestReply = 64 * 1024

/** A part of the content for DATA: no line begins with a single dot. */
function stuffed(raw: Buffer, at: number) {
	const text = raw.toString('latin1', at, at + chunkBytes)
	const dotted = text.replaceAll(/(?<=[\r\n])\./g, '..')
	const isLineStart = at === 0 || raw[at - 1] === 0x0a || raw[at - 1] === 0x0d
	return isLineStart && text.startsWith('.') ? `.${dotted}` : dotted
}

/** The last line ends, and a dot follows. */
const endOf = (raw: Buffer) => (raw.subarray(-2).equals(lineEnd) ? '.\r\n' : '\r\n.\r\n')

/** Reads the server's replies one by one. */
function readReplies(socket: Socket, onClosed: Conversation['onClosed']) {
	let unread = ''
	let closed: Error | undefined
	let changed = () => {}
	const forget = onClosed(() => {
		closed ??= new Error(lost)
		changed()
	})
	const hear = (chunk: Buffer) => {
		unread += chunk.toString('utf8')
		if (unread.length > longestReply) closed ??= new Error('An endless reply')
		changed()
	}
	const drained = () => changed()
	socket.on('data', hear).on('drain', drained)

	/** Waits until `look` finds something, for so long as the server stays silent. */
	async function until<Found>(look: () => Found | undefined, patienceMs: number) {
		for (;;) {
			const found = look()
			if (found !== undefined) return found
			if (closed) throw closed
			const { promise, resolve, reject } = Promise.withResolvers<void>()
			changed = resolve
			const late = setTimeout(
				() => reject(new Error('Timeout: no answer from the server')),
				patienceMs,
			)
			try {
				await promise
			} finally {
				clearTimeout(late)
				changed = () => {}
			}
		}
	}

	return {
		next: (patienceMs: number) =>
			until(() => {
				const reply = wholeReply.exec(unread)?.[0]
				if (reply === undefined) return undefined
				unread = unread.slice(reply.length)
				const text = reply.trimEnd().replaceAll('\r\n', '\n')
				if (!/^[2-5]\d\d(?: |$)/m.test(text))
					throw new Error(`An unexpected reply: ${text.slice(0, 200)}`)
				return text
			}, patienceMs),
		/** Resolves early if the server says something. */
		whenDrained: (patienceMs: number) =>
			until(() => (!socket.writableNeedDrain || unread !== '' ? true : undefined), patienceMs),
		areRead: () => unread === '',
		stop() {
			forget()
			socket.off('data', hear).off('drain', drained)
		},
	}
}

/** Lines of which only the last has no `-` after its code. */
const wholeReply = /^(?:...-[^\n]*\n)*(?!...-)[^\n]*\n/
