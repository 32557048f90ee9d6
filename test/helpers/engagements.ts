import type { ExecutionContext } from 'ava'
import { composeMessage } from '../../mail/compose.ts'
import { trackingKey } from '../../mail/tracked-urls.ts'
import { Email } from '../../db/emails/email.ts'
import { foldEngagements } from '../../db/emails/engagement-fold.ts'
import { Engagement } from '../../db/emails/engagement.ts'
import { testSettings } from './app.ts'
import { setupSend } from './send.ts'

const { publicUrl, sessionSecret } = testSettings()
export const link = 'https://shop.example/sale?a=1&b=2#top'
const body = `<p><a href="${link.replace('&', '&amp;')}">Sale</a></p>`

/** An API whose mails can be opened and clicked as by their readers. */
export async function setupEngagements(
	t: ExecutionContext,
	options: Parameters<typeof setupSend>[1] = {},
) {
	// Each answer comes after its open or click was written, however slow the machine is.
	const all = await setupSend(t, {
		...options,
		services: { readersPatienceMs: 60_000, ...options.services },
	})
	const { app, pool, orm, project } = all
	const get = (url: string, headers: object = {}, method: 'GET' | 'HEAD' = 'GET') =>
		app.inject({ method, url: url.slice(publicUrl.length), headers: { ...headers } })

	/** A mail that was handed over the given time ago, with its tracked addresses. */
	async function handedOver(
		columns: Partial<Email> = {},
		secondsAgo = 60,
		to = 'anna@example.org',
	) {
		const sentAt = new Date(Date.now() - secondsAgo * 1000)
		const { id, projectId, subject } = await all.sent({ body, to })
		const set = {
			status: 'SENT' as const,
			sentAt,
			attempt: 1,
			attemptStartedAt: sentAt,
			...columns,
		}
		await orm.em.fork().nativeUpdate(Email, { projectId, id }, set)
		return { id, ...addressesIn({ id, projectId, subject }) }
	}

	return {
		...all,
		get,
		handedOver,
		/** Counts waiting opens and clicks, as a worker does. */
		fold: async (rows = 500) => (await foldEngagements(pool, { limit: rows }))[0]!,
		mail: (id: string) => orm.em.fork().findOneOrFail(Email, { projectId: project.id, id }),
		waiting: () => orm.em.fork().count(Engagement),
		events: async () =>
			(
				await orm.em
					.fork()
					.execute<{ name: string; data: Record<string, unknown>; emailId: string }[]>(
						`select name, data, email_id as "emailId" from events order by id`,
					)
			).filter(({ name }) => name.startsWith('email.')),
	}
}

/** The redirect and the pixel in a mail. */
export function addressesIn(
	mail: Pick<Email, 'id' | 'projectId' | 'subject'>,
	campaignId: string | null = null,
) {
	const { html } = composeMessage(
		{
			emailId: mail.id,
			projectId: mail.projectId,
			contactId: null,
			from: { email: 'app@example.com', name: null },
			to: { email: 'anna@example.org', name: null },
			replyTo: null,
			subject: mail.subject ?? '',
			body,
			headers: null,
			language: 'en',
			type: 'TRANSACTIONAL',
			createdAt: new Date(),
		},
		[],
		publicUrl,
		{ key: trackingKey(sessionSecret), campaignId },
	)
	return {
		click: /href="([^"]*)"/.exec(html)![1]!,
		open: /<img src="([^"]*)"/.exec(html)![1]!,
	}
}
