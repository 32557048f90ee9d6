import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { MailLog } from './mail-log.ts'
import { converse, type SinkState } from './smtp-sink-conversation.ts'
import { serveStatistics } from './smtp-sink-control.ts'

/**
 * A fault. It applies `times` times (by default always) at its stage of the conversation, for recipients
 * that contain `recipient`.
 */
export interface Fault {
	/** `content`: during the content, before its end; `dot`: at its end; `done`: after the 250. */
	at: 'connect' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data' | 'content' | 'dot' | 'done' | 'rset'
	recipient?: string
	times?: number
	/** Only on this many first connections. */
	connections?: number
	/** Sent instead of the usual answer. A 421 ends the connection, as in RFC 5321. */
	reply?: string
	/** Sent last, without the end of a line. */
	torn?: string
	/** Never answers; with `content` it stops reading. */
	hang?: boolean
	/** Ends the connection without an answer. */
	drop?: boolean
	/** With `drop`, `hang`, `torn` or `reply` at the dot: the mail is accepted anyway. */
	take?: boolean
	/** Delays the answer. */
	delayMs?: number
}

export interface SinkMail {
	from: string
	to: string
	/** All of them, in order. */
	recipients: string[]
	raw: string
	emailId: string | null
	messageId: string | null
	/** When the 250 was sent. */
	at: number
	connection: number
}

export interface SinkOptions {
	port?: number
	pipelining?: boolean
	/** For many thousands of mails: `mails` stays empty, and a log keeps a little of each. */
	log?: MailLog
	/** The delay of each answer to a dot. */
	delayMs?: number
	/** More connections than this are greeted with a 421. */
	maxConnections?: number
	/** After this many mails, a connection is ended with a 421. */
	mailsPerConnection?: number
	/** Announced at EHLO. */
	size?: number
	/** Further EHLO lines. */
	extensions?: string[]
}

export interface SmtpSink {
	port: number
	url: string
	mails: SinkMail[]
	faults: Fault[]
	/** Every command line received, in order. */
	commands: string[]
	statistics(): {
		accepted: number
		connections: number
		open: number
		firstAt: number
		lastAt: number
	}
	/** How many different mails were accepted. */
	distinct(): number
	/** Forgets all mails and commands so far. */
	forget(): void
	/** Ends the idle connections, with this last line if given. */
	dropIdle(lastWord?: string): Promise<void>
	/** Accepts no connections until `start`. */
	stop(): Promise<void>
	start(): Promise<void>
	close(): Promise<void>
}

/** An SMTP server that accepts and keeps everything, and fails on request. */
export async function smtpSink(options: SinkOptions = {}): Promise<SmtpSink> {
	const { log } = options
	const state: SinkState = {
		options,
		mails: [],
		faults: [],
		commands: [],
		accepted: 0,
		conversations: new Map(),
		connections: 0,
	}
	let server: Server
	const sink: SmtpSink = {
		port: options.port ?? 0,
		url: '',
		mails: state.mails,
		faults: state.faults,
		commands: state.commands,
		statistics: () => ({
			accepted: state.accepted,
			connections: state.connections,
			open: state.conversations.size,
			firstAt: log?.firstAt ?? state.mails[0]?.at ?? 0,
			lastAt: log?.lastAt ?? state.mails.at(-1)?.at ?? 0,
		}),
		distinct: () =>
			log ? log.distinct() : new Set(state.mails.flatMap(({ emailId }) => emailId ?? [])).size,
		forget() {
			state.mails.length = state.commands.length = state.accepted = 0
			log?.clear()
		},
		async dropIdle(lastWord) {
			const idle = [...state.conversations].filter(([, conversation]) => conversation.isIdle())
			const gone = idle.map(
				([socket]) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
			)
			for (const [, conversation] of idle) conversation.end(lastWord)
			await Promise.all(gone)
		},
		async stop() {
			const closed = new Promise((resolve) => server.close(resolve))
			for (const socket of state.conversations.keys()) socket.destroy()
			await closed
		},
		async start() {
			server = createServer({ noDelay: true }, (socket) => converse(socket, state))
			server.listen(sink.port, '127.0.0.1')
			await once(server, 'listening')
			sink.port = (server.address() as AddressInfo).port // it listens on TCP
			sink.url = `smtp://127.0.0.1:${sink.port}`
		},
		close: () => sink.stop(),
	}
	await sink.start()
	return sink
}

if (process.argv[1] === import.meta.filename) await serveStatistics(smtpSink)
