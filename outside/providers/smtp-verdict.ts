import type { Outcome } from './provider.ts'
import type { HandOver, SmtpError, Stage } from './smtp-exchange.ts'

/**
 * What one conversation means for the ledger. The promise to lose and repeat nothing depends on it. Only
 * two facts are definite: the server's answer, and that the mail was certainly not sent. Everything else
 * is UNKNOWN.
 */
export function verdict(result: HandOver): Outcome {
	if ('reply' in result) {
		const { reply, refusedCopies } = result
		const sent = { kind: 'SENT' as const, providerMessageId: queueId(reply) }
		return refusedCopies ? { ...sent, refusedCopies } : sent
	}
	const { error, stage } = result
	const code = answerTo(error, stage)
	if (code) return refusal(code, error)
	if (stage === 'DOT') return { kind: 'UNKNOWN', error: error.message }
	// nodemailer itself refuses unusable addresses, and mails above the server's announced size.
	if (isOwnRefusal(error)) return { kind: 'REJECTED', error: error.message, bounce: false }
	return { kind: 'UNAVAILABLE', error: error.message, retryAfterMs: null }
}

/** Without a connection the next mail would fail too, whatever the reason. */
export function noConnection(error: SmtpError): Outcome {
	return {
		kind: 'UNAVAILABLE',
		error: `No connection to the mail server: ${error.message}`,
		retryAfterMs: retryHint(error.response),
	}
}

/** The server closed the connection before the mail was sent. */
export function isStale(result: HandOver) {
	if ('reply' in result || result.stage !== 'ENVELOPE' || isOwnRefusal(result.error)) return false
	const code = answerTo(result.error, result.stage)
	return code === null || code === 421
}

/** The reply code, if the error is the server's complete answer to a command of this mail. */
function answerTo({ code, command, responseCode }: SmtpError, stage: Stage) {
	if (!responseCode || responseCode < 400 || responseCode > 599) return null
	// After 354 only a reply to the content counts, not a partial line before the connection's end.
	if (stage !== 'ENVELOPE') return code === 'EMESSAGE' ? responseCode : null
	// Before 354 only replies to a command count. 421 always ends the connection.
	return command !== 'CONN' || responseCode === 421 ? responseCode : null
}

const isOwnRefusal = ({ code, responseCode }: SmtpError) =>
	!responseCode && (code === 'EENVELOPE' || code === 'EMESSAGE')

/** Replaces nodemailer's texts. Some of them mention all recipients, but our mail has only one. */
const WORDS = new Map([
	['MAIL FROM', 'Sender refused'],
	['RCPT TO', 'Recipient refused'],
	['DATA', 'Message refused'],
])

/** Commands refused for lack of a login or TLS. That concerns us, so every mail would be refused. */
const ABOUT_US = new Set([500, 502, 503, 530, 534, 535, 538])

function refusal(code: number, { message, response, command }: SmtpError): Outcome {
	const text = response ?? message
	const error = `${WORDS.get(command ?? '') ?? 'The server said'}: ${text}`
	const retryAfterMs = retryHint(response)
	const unavailable: Outcome = { kind: 'UNAVAILABLE', error, retryAfterMs }
	if (code === 421) return unavailable
	if (code < 500) {
		// At MAIL the server knows only us and the sender. Unless it names the sender, it refuses us.
		if (command === 'MAIL FROM' && !/^\d{3}[ -]4\.1\./.test(text)) return unavailable
		return { kind: 'DEFERRED', error, retryAfterMs }
	}
	if (ABOUT_US.has(code) && command !== 'DATA') return unavailable
	return { kind: 'REJECTED', error, bounce: isAboutRecipient(code, text, command) }
}

/** Address unknown, moved, malformed or disabled (RFC 3463). 5.1.7 and 5.1.8 concern the sender. */
const RECIPIENT = /^5\.(1\.([0-6]|10)|2\.1)$/

/** Servers also answer a bare 550 when they reject us or the content. A bounce has consequences. */
const POLICY =
	/\brelay|\bspam|virus|block|black ?list|policy|reputation|\brate\b|\b(spf|dkim|dmarc)\b|authent/i

function isAboutRecipient(code: number, text: string, command: string | undefined) {
	if (command === 'MAIL FROM') return false
	const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(text)?.[1]
	if (enhanced) return RECIPIENT.test(enhanced)
	return command === 'RCPT TO' && [550, 551, 553].includes(code) && !POLICY.test(text)
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 }

/** «Try again in 5 minutes», «retry after 300 seconds»: rare, but useful. */
function retryHint(response: string | undefined) {
	const hint = /\b(?:again|retry)\b\D{0,20}?(\d{1,5}) ?([smh])/i.exec(response ?? '')
	if (!hint) return null
	const unit = hint[2]?.toLowerCase() as keyof typeof UNIT_MS // the pattern allows only these units
	return Math.min(Number(hint[1]) * UNIT_MS[unit], 24 * UNIT_MS.h)
}

/** Postfix, Exim, Sendmail, Amazon SES and Haraka each have their own way to name an accepted mail. */
const QUEUE_IDS = [
	/queued as <?([\w.-]+)/i,
	/\bid=([\w-]+)/i,
	/\bqueued \(([\w.-]+)\)/i,
	/^250 2\.\d\.\d (\w{8,}) message accepted/i,
	/^250 ok ([\da-f]+(?:-[\da-f]+)+)$/i,
	/^250 2\.\d\.\d ok (<[^<>\s]+>)/i,
]

function queueId(reply: string) {
	for (const pattern of QUEUE_IDS) {
		const id = pattern.exec(reply)?.[1]
		if (id) return id
	}
	return null
}
