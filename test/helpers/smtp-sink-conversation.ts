import type { Socket } from 'node:net'
import type { Fault, SinkMail, SinkOptions } from './smtp-sink.ts'

export interface SinkState {
	options: SinkOptions
	mails: SinkMail[]
	faults: Fault[]
	commands: string[]
	accepted: number
	conversations: Map<Socket, { isIdle(): boolean; end(lastWord?: string): void }>
	connections: number
}

interface Content {
	chunks: Buffer[]
	/** The last bytes received, because the final dot may arrive in pieces. */
	tail: Buffer
}

const END = Buffer.from('\r\n.\r\n')
const NOTHING = Buffer.alloc(0)

/** Handles one connection, from the greeting to the end. */
export function converse(socket: Socket, state: SinkState) {
	const connection = (state.connections += 1)
	const { options } = state
	let from: string | null = null
	let to: string | null = null
	let recipients: string[] = []
	let pending: Buffer = NOTHING
	let content: Content | null = null
	let halted = false
	let mails = 0
	state.conversations.set(socket, {
		isIdle: () => mails > 0 && from === null && content === null && !halted,
		end(lastWord) {
			halted = true
			socket.end(lastWord ? `${lastWord}\r\n` : '')
		},
	})
	socket.on('error', () => {})
	socket.on('close', () => state.conversations.delete(socket))
	socket.on('data', (chunk: Buffer) => {
		pending = pending.length ? Buffer.concat([pending, chunk]) : chunk
		// The answers to commands that came together leave together.
		socket.cork()
		work()
		socket.uncork()
	})
	const crowded = options.maxConnections && state.conversations.size > options.maxConnections
	answer('connect', crowded ? '421 4.7.0 Too many connections' : '220 sink ESMTP')

	function work() {
		while (!halted && pending.length) {
			if (content) {
				takeContent(content)
				continue
			}
			const end = pending.indexOf('\r\n')
			if (end < 0) return
			const line = pending.toString('utf8', 0, end)
			pending = pending.subarray(end + 2)
			obey(line)
		}
	}

	function obey(line: string) {
		if (!options.log) state.commands.push(line)
		const verb = line.slice(0, 4).toUpperCase()
		if (verb === 'EHLO' || verb === 'HELO') return answer('ehlo', greeting(options))
		if (verb === 'MAIL') {
			if (mails === options.mailsPerConnection) return say('421 4.7.0 Enough for now')
			from = address(line)
			to = null
			recipients = []
			return answer('mail', '250 2.1.0 Ok', () => (from = null))
		}
		if (verb === 'RCPT') {
			if (from === null) return answer('rcpt', '503 5.5.1 Need MAIL first')
			to = address(line)
			recipients.push(to)
			return answer('rcpt', '250 2.1.5 Ok', () => recipients.pop())
		}
		if (verb === 'DATA') {
			if (recipients.length === 0) return answer('data', '503 5.5.1 Need RCPT first')
			content = { chunks: [], tail: END.subarray(0, 2) }
			return answer('data', '354 Go ahead', () => (content = null))
		}
		if (verb === 'RSET') {
			from = to = null
			recipients = []
			return answer('rset', '250 2.0.0 Ok')
		}
		if (verb === 'QUIT') {
			halted = true
			return void socket.end('221 2.0.0 Bye\r\n')
		}
		return void socket.write(verb === 'NOOP' ? '250 2.0.0 Ok\r\n' : '502 5.5.2 What?\r\n')
	}

	function takeContent(received: Content) {
		if (received.chunks.length === 0 && isSpoilt()) return
		const length = endOf(received.tail, pending)
		if (length < 0) {
			received.chunks.push(pending)
			received.tail = Buffer.concat([received.tail, pending.subarray(-4)]).subarray(-4)
			pending = NOTHING
			return
		}
		received.chunks.push(pending.subarray(0, length))
		pending = pending.subarray(length)
		content = null
		const body = received.chunks.length > 1 ? Buffer.concat(received.chunks) : received.chunks[0]!
		accept(body.subarray(0, -3))
	}

	function isSpoilt() {
		const fault = occurring('content')
		if (!fault) return false
		halted = true
		if (fault.drop) drop()
		else if (fault.hang) socket.pause()
		else {
			// The data that follows belongs to the refused mail.
			socket.removeAllListeners('data').resume()
			say(fault.reply ?? '451 4.3.0 Stop')
		}
		return true
	}

	function accept(body: Buffer) {
		const emailId = headerOf(body, 'X-Tempost-Id')
		const envelope = { from: from ?? '', to: recipients[0] ?? '', recipients }
		mails += 1
		let isTaken = true
		from = null
		const id = `${connection}-${state.accepted + 1}`
		answer('dot', `250 2.0.0 Ok: queued as ${id}`, (fault) => (isTaken = fault.take ?? false))
		if (!isTaken) return
		state.accepted += 1
		const at = Date.now()
		if (options.log) options.log.add({ emailId, to: envelope.to, at })
		else
			state.mails.push({
				...envelope,
				raw: body.toString('utf8').replace(/^\.\./gm, '.'),
				emailId,
				messageId: headerOf(body, 'Message-ID'),
				at,
				connection,
			})
		if (!halted && occurring('done')) {
			halted = true
			socket.end()
		}
	}

	function occurring(at: Fault['at']) {
		if (state.faults.length === 0) return undefined
		const fault = state.faults.find(
			(one) =>
				one.at === at &&
				one.times !== 0 &&
				connection <= (one.connections ?? Infinity) &&
				(!one.recipient || to?.includes(one.recipient)),
		)
		if (fault?.times) fault.times -= 1
		return fault
	}

	function answer(at: Fault['at'], reply: string, refused?: (fault: Fault) => void) {
		const fault = occurring(at)
		if (fault && (fault.reply || fault.torn || fault.drop || fault.hang)) refused?.(fault)
		if (fault?.drop) return drop()
		if (fault?.hang) return void (halted = true)
		if (fault?.torn) return void socket.end(fault.torn)
		const text = fault?.reply ?? reply
		const delayMs = fault?.delayMs ?? (at === 'dot' ? options.delayMs : undefined)
		if (!delayMs) return say(text)
		halted = true
		setTimeout(() => {
			halted = false
			say(text)
			work()
		}, delayMs)
	}

	function drop() {
		halted = true
		socket.uncork() // the answers so far
		socket.destroy()
	}

	function say(text: string) {
		if (text.startsWith('421')) {
			halted = true
			socket.end(`${text}\r\n`)
		} else socket.write(`${text}\r\n`)
	}
}

function greeting({ pipelining, size, extensions = [] }: SinkOptions) {
	const lines = ['sink', ...(pipelining === false ? [] : ['PIPELINING']), ...extensions]
	if (size) lines.push(`SIZE ${size}`)
	return [...lines, '8BITMIME']
		.map((line, index) => `250${index < lines.length ? '-' : ' '}${line}`)
		.join('\r\n')
}

/** The end of the content in the received data, including the final dot; -1 if it continues. */
function endOf(tail: Buffer, received: Buffer) {
	const seam = Buffer.concat([tail, received.subarray(0, END.length - 1)]).indexOf(END)
	if (seam >= 0) return seam + END.length - tail.length
	const end = received.indexOf(END)
	return end < 0 ? -1 : end + END.length
}

const address = (line: string) => line.slice(line.indexOf('<') + 1, line.indexOf('>'))

/** Read without a copy of the head, because that takes long for a million mails. */
function headerOf(mail: Buffer, name: string) {
	const prefix = `\r\n${name}: `
	const at = mail.indexOf(prefix)
	if (at < 0 || at > mail.indexOf('\r\n\r\n')) return null
	const start = at + prefix.length
	return mail.toString('latin1', start, mail.indexOf('\r', start))
}
