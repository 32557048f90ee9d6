import { setTimeout as sleep } from 'node:timers/promises'
import { open, type OpenedMail } from '../../db/emails/ledger.ts'
import type { Claim } from './claim-source.ts'
import { compose, type Contents } from './composing.ts'
import { loadAttachments, loadSources } from './contents.ts'
import { handOver } from './handover.ts'
import { isLarge } from './large-mails.ts'
import type { TimedMail } from './moments.ts'
import type { HandOver } from './source.ts'

/** Opens attempts for these mails, except large ones without a place. */
export async function openMails(claim: Claim, mails: TimedMail[]): Promise<HandOver[]> {
	const { services, projectId } = claim
	const { largeMails } = services
	const leaving = mails.filter((mail) => !isLarge(mail) || largeMails.enter(projectId, mail.id))
	const unopened = new Set(leaving.filter(isLarge).map(({ id }) => id))
	try {
		const opened = await openAll(claim, leaving)
		for (const { mails } of opened) for (const { id } of mails) unopened.delete(id)
		return opened
	} finally {
		for (const id of unopened) largeMails.leave(id)
	}
}

async function openAll(claim: Claim, leaving: TimedMail[]): Promise<HandOver[]> {
	const { services, projectId, todo } = claim
	const { pool, provider, dkimKeys } = services
	if (leaving.length === 0) return []
	// Loaded before the mails are opened: a database error at this point must leave none of them in doubt.
	const keys = await dkimKeys(projectId, [...new Set(leaving.map(({ domain }) => domain))])
	const files = await loadAttachments(
		pool,
		leaving.filter((mail) => !isLarge(mail)),
	)
	const sources = await loadSources(pool, leaving)
	const rows = await open(pool, {
		projectId,
		emailIds: leaving.map(({ id }) => id),
		withoutBody: leaving.filter(isLarge).map(({ id }) => id),
		provider: provider.name,
	})
	const opened = new Map(rows.map((mail) => [mail.id, mail]))
	return leaving.flatMap((timed) => {
		const mail = opened.get(timed.id)
		if (!mail) {
			// Another run has opened or settled it. The next look at the ledger shows which.
			todo.get(timed.id)!.status = 'SENDING'
			return []
		}
		const contents = {
			isLarge: isLarge(timed),
			attachments: files.get(mail.request_id!) ?? [],
			source: sources.get(mail.id),
			dkim: keys.get(mail.from.split('@')[1]!),
		}
		return { mails: [timed], run: async () => [await handOverWhenDue(claim, mail, contents)] }
	})
}

async function handOverWhenDue({ services, todo }: Claim, mail: OpenedMail, contents: Contents) {
	try {
		const waitMs = (todo.get(mail.id)?.dueAt ?? 0) - performance.now()
		if (waitMs > 0) await sleep(waitMs)
		await services.gate.connection(mail.project_id)
		return await handOver(services, mail, () => compose(services, mail, contents))
	} finally {
		services.largeMails.leave(mail.id)
	}
}
