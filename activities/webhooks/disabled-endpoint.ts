import { queuePlatformMails } from '../../db/emails/platform-mail.ts'
import { endpointReaders, markNotified } from '../../db/webhooks/webhook-readers.ts'
import { transaction } from '../../db/transaction.ts'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import type { EndpointKey, WebhookServices } from './webhooks.ts'

/** Notifies the members that an endpoint gets nothing any more, once. */
export async function notifyOfDisabled(
	{ pool, relay, settings }: WebhookServices,
	key: EndpointKey,
	reason: 'GONE' | 'FAILING' | 'OWNER',
) {
	const [readers] = await endpointReaders(pool, key)
	if (!readers || reason === 'OWNER') return
	const { project, language, members, url } = readers
	const mail = await renderPlatformMail('webhookDisabled', language, {
		project,
		endpoint: url,
		reason,
	})
	const mails = members.map((to) => ({ from: settings.platformFrom, to, ...mail }))
	await transaction(pool, async (db) => {
		const [marked] = await markNotified(db, key)
		if (marked) await queuePlatformMails(db, { mails })
	})
	relay.wake()
}
