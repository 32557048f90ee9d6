export interface SmtpTimeouts {
	/** From the first packet to a finished login. */
	connectMs: number
	/** From MAIL to the server's 354. Until then nothing of the mail has been handed over. */
	envelopeMs: number
	/**
	 * Silence while the content is being sent or its answer is awaited. RFC 5321 asks for 10 minutes, because
	 * giving up earlier leaves the mail in doubt; most servers need seconds.
	 */
	answerMs: number
}

/**
 * How far a mail had come when its conversation ended. ENVELOPE: no content was sent. CONTENT: some was
 * sent, but certainly not the final dot. DOT: the server may have all of it.
 */
export type Stage = 'ENVELOPE' | 'CONTENT' | 'DOT'

export interface SmtpError extends Error {
	code?: string | undefined
	command?: string | undefined
	response?: string | undefined
	responseCode?: number | undefined
}

/**
 * The server's 250, with its answers to refused copies by their addresses; or the error and its stage.
 */
export type HandOver =
	| { reply: string; refusedCopies?: Record<string, string> }
	| { error: SmtpError; stage: Stage }
