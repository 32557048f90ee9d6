import type { Pool } from 'pg'
import { type CampaignMail, campaignMails } from '../../db/campaigns/campaign-mail.ts'
import {
	type AttachmentRow,
	attachmentsOf,
	type OpenedMail,
	type OpenMail,
} from '../../db/emails/ledger.ts'
import type { Attachment } from '../../mail/message.ts'
import type { Tracking } from '../../mail/tracked-urls.ts'

// What a mail is composed from, as the ledger has it.

/** Loads the campaign sources of the mails that belong to campaigns, by mail. */
export async function loadSources(pool: Pool, mails: OpenMail[]) {
	const theirs = mails.filter((mail) => mail.source_type === 'CAMPAIGN').map(({ id }) => id)
	if (theirs.length === 0) return new Map<string, CampaignMail>()
	const sources = await campaignMails(pool, { projectId: mails[0]!.project_id, emailIds: theirs })
	return new Map(sources.map((source) => [source.id, source]))
}

/** Loads the attachments by request: all mails of a request share them. */
export async function loadAttachments(pool: Pool, mails: OpenMail[]) {
	const requests = new Set(mails.flatMap((m) => (m.has_attachments ? (m.request_id ?? []) : [])))
	const byRequest = new Map<string, Attachment[]>()
	if (requests.size === 0) return byRequest
	for (const row of await attachmentsOf(pool, {
		projectId: mails[0]!.project_id,
		requestIds: [...requests],
	})) {
		const files = byRequest.get(row.request_id) ?? []
		files.push(fileOf(row))
		byRequest.set(row.request_id, files)
	}
	return byRequest
}

export const fileOf = (row: AttachmentRow): Attachment => ({
	filename: row.filename,
	content: row.content,
	contentType: row.content_type,
	contentId: row.content_id,
	disposition: row.inline ? 'inline' : 'attachment',
})

export const trackingOf = ({ tracked, campaign_id }: OpenedMail, key: Buffer): Tracking | null =>
	tracked ? { key, campaignId: campaign_id } : null
