/** One mail in the form that every provider needs: rendered, personal, ready for MIME or JSON. */
export interface Message {
	emailId: string
	projectId: string
	/** `<emailId@sender domain>`: the same at every try, so that a repeat is recognised. */
	messageId: string
	from: Address
	to: Address
	/** Absent, here and in the next: none. */
	cc?: Address[]
	/** In no header. */
	bcc?: Address[]
	replyTo: string | null
	subject: string
	html: string
	text: string
	/** Already merged and checked: a custom header has replaced ours where that is allowed. */
	headers: Record<string, string>
	attachments: Attachment[]
	date: Date
}

export interface Address {
	email: string
	name: string | null
}

export interface Attachment {
	filename: string
	content: Buffer
	contentType: string
	contentId: string | null
	disposition: 'attachment' | 'inline'
}
