import { setImmediate as breath } from 'node:timers/promises'
import type { Pool } from 'pg'
import { perform } from '../../mail/rendering.ts'
import { type CampaignMail, campaignMails } from '../../db/campaigns/campaign-mail.ts'
import type { Email } from '../../db/emails/email.ts'
import { mailBodies } from '../../db/emails/mail-bodies.ts'

interface Bodies {
	pool: Pool
	publicUrl: string
	projectId: string
}

/**
 * The size of all bodies in one page. A single one may have some 10 MB, and a page is assembled in memory.
 */
const bytesAtOnce = 16 * 2 ** 20
/** Each contains the whole text of its campaign. */
const sourcesAtOnce = 10
/** The processor time for one page: a template may take half a second per mail. */
const renderingMs = 1000

export interface Content {
	/** Of a campaign's mail whose record has none; null: the record has it. */
	subject: string | null
	/** Null: purged. */
	body: string | null
}

/** A campaign stores one text for all its mails; a single mail's text is rendered on request. */
export async function contentOf(
	from: Bodies,
	{ id, body }: Pick<Email, 'id' | 'body'>,
): Promise<Content | undefined> {
	if (typeof body === 'string') return { subject: null, body }
	const [source] = await sourcesOf(from, [id])
	return source && rendered(from, source)
}

/**
 * The contents of mails, newest first, within a page's limits of size and rendering time; always the newest
 * one. Other requests are served between two renderings.
 */
export async function contentsOf(from: Bodies, ids: string[]) {
	const stored = await mailBodies(from.pool, {
		projectId: from.projectId,
		emailIds: ids,
		mostBytes: bytesAtOnce,
	})
	const contents = new Map<string, Content>()
	let bytes = 0
	let spentMs = 0
	for (let start = 0; start < stored.length; start += sourcesAtOnce) {
		const mails = stored.slice(start, start + sourcesAtOnce)
		const missing = mails.filter(({ body }) => body === null).map(({ id }) => id)
		const sources = missing.length > 0 ? await sourcesOf(from, missing) : []
		const sourceOf = new Map(sources.map((source) => [source.id, source]))
		for (const mail of mails) {
			const source = sourceOf.get(mail.id)
			if (source && spentMs > renderingMs) return contents
			const { subject, body, ms } = source
				? await rendered(from, source)
				: { ...mail, subject: null, ms: 0 }
			spentMs += ms
			bytes += Buffer.byteLength(body ?? '')
			if (contents.size > 0 && bytes > bytesAtOnce) return contents
			contents.set(mail.id, { subject, body })
			if (source) await breath()
		}
	}
	return contents
}

const sourcesOf = ({ pool, projectId }: Bodies, ids: string[]) =>
	campaignMails(pool, { projectId, emailIds: ids })

async function rendered({ publicUrl, projectId }: Bodies, source: CampaignMail) {
	const { result, ms } = await perform(projectId, 'campaignMail', { source, publicUrl })
	return { subject: source.has_subject ? null : result.subject, body: result.body, ms }
}
