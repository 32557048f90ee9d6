/** One mail as every provider needs to know it: rendered, personal, ready to be put into MIME or JSON. */
export interface Message {
	emailId: string
	projectId: string
	/** `<emailId@sender domain>`: the same at every try, so that a repeat can be recognised. */
	messageId: string
	from: Address
	to: Address
	replyTo: string | null
	subject: string
	html: string
	text: string
	/** Already merged and checked: custom headers that are ours to replace have replaced ours. */
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
