export interface SmtpTimeouts {
	/** From the first packet to a finished login. */
	connectMs: number
	/** From MAIL to the server's 354: until then nothing of the mail has been handed over. */
	envelopeMs: number
	/**
	 * Silence while the content is on its way or its answer is awaited. RFC 5321 asks for 10 minutes,
	 * for whoever gives up earlier does not know what became of the mail; most servers need seconds.
	 */
	answerMs: number
}

/**
 * How far a mail had come when the conversation about it ended:
 * ENVELOPE, nothing of the content has left; CONTENT, a part has, but surely not the final dot;
 * DOT, the server may have it all.
 */
export type Stage = 'ENVELOPE' | 'CONTENT' | 'DOT'

export interface SmtpError extends Error {
	code?: string | undefined
	command?: string | undefined
	response?: string | undefined
	responseCode?: number | undefined
}

/** The server's 250, or what came instead and when. */
export type HandOver = { reply: string } | { error: SmtpError; stage: Stage }
