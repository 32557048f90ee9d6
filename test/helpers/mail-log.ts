export interface LoggedMail {
	emailId: string | null
	to: string
	/** When the 250 was sent. */
	at: number
}

const pageSize = 1024 * 1024

/**
 * A little of each of a million mails, outside the heap of JavaScript. Node searches its whole heap after every few megabytes
 * that it reads from sockets, so a sink with the mails in its heap would need more time for each.
 */
export class MailLog {
	#pages: Buffer[] = []
	#used = pageSize
	firstAt = 0
	lastAt = 0

	add({ emailId, to, at }: LoggedMail) {
		const line = `${emailId ?? ''} ${at} ${to}\n`
		if (this.#used + 3 * line.length > pageSize) {
			this.#pages.push(Buffer.alloc(pageSize))
			this.#used = 0
		}
		this.#used += this.#pages.at(-1)!.write(line, this.#used)
		this.firstAt ||= at
		this.lastAt = at
	}

	/** How many different mails there are. This reads all of them. */
	distinct = () => new Set(this.after(0).flatMap(({ emailId }) => emailId ?? [])).size

	/** All but the first `skipped` mails. */
	after(skipped: number): LoggedMail[] {
		const lines = this.#pages.flatMap((page) => page.toString().split('\n').slice(0, -1))
		return lines.slice(skipped).map((line) => {
			const [emailId, at, ...to] = line.split(' ')
			return { emailId: emailId || null, at: Number(at), to: to.join(' ') }
		})
	}

	clear() {
		this.#pages = []
		this.#used = pageSize
		this.firstAt = this.lastAt = 0
	}
}
