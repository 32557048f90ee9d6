import type { Mail } from './compose.ts'

/** A mail as the ledger has it. */
export interface LedgerMail {
	project_id: string
	id: string
	contact_id: string | null
	campaign_id: string | null
	to: string
	to_name: string | null
	copies: Mail['copies']
	from: string
	from_name: string | null
	reply_to: string | null
	subject: string
	body: string
	text: string | null
	headers: Record<string, string>
	content_language: string
	language: string
	postal_address: string | null
	type: Mail['type']
	created_at: Date
}

export const mailOf = (row: LedgerMail): Mail => ({
	emailId: row.id,
	projectId: row.project_id,
	contactId: row.contact_id,
	from: { email: row.from, name: row.from_name },
	to: { email: row.to, name: row.to_name },
	copies: row.copies,
	replyTo: row.reply_to,
	subject: row.subject,
	body: row.body,
	text: row.text,
	headers: row.headers,
	contentLanguage: row.content_language,
	language: row.language,
	postalAddress: row.postal_address,
	type: row.type,
	isCampaign: row.campaign_id !== null,
	createdAt: row.created_at,
})
