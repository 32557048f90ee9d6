import { randomUUID } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { setupSend } from './send.ts'
import { bounce, resendEvent, signedWebhook, webhookSecret } from './resend-webhooks.ts'

/** An API that receives Resend's webhooks, with mails in several states. */
export async function setupReports(t: ExecutionContext) {
	const all = await setupSend(t, { settings: { resendWebhookSecret: webhookSecret } })
	const { app, pool, project, sent, orm } = all
	// A young project would be suspended after a few complaints.
	await pool.query(`update projects set created_at = now() - interval '60 days'`)
	const execute = <T = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
		orm.em.fork().execute<T[]>(sql, values)

	/** A mail as the worker leaves it: with a status and an attempt, and known to Resend. */
	async function handedOver(status = 'SENT', to = 'anna@example.org') {
		const { id } = await sent({ to, subscribed: true })
		const resendId = randomUUID()
		const isRecorded = !['PENDING', 'SENDING', 'UNCERTAIN'].includes(status)
		await pool.query(
			`update emails set status = $2, attempt = 1, attempt_started_at = now() - interval '1 second',
				provider = 'resend', sent_at = case when $3 then now() end,
				provider_message_id = case when $3 then $4 end where id = $1`,
			[id, status, isRecorded, resendId],
		)
		if (isRecorded)
			await pool.query(
				`insert into attempts (project_id, email_id, attempt, at, outcome, provider, provider_message_id)
				values ($1, $2, 1, now(), 'SENT', 'resend', $3)`,
				[project.id, id, resendId],
			)
		return { id, resendId, tags: { email_id: id, project_id: project.id } }
	}
	type Mail = Awaited<ReturnType<typeof handedOver>>

	const post = (payload: unknown, options?: object) => app.inject(signedWebhook(payload, options))
	/** Reports an event of a mail as Resend does, by default with our tags. */
	const report = async (type: string, mail: Mail, more: object = {}, options: object = {}) => {
		const { id, tags } = { id: mail.resendId, tags: mail.tags, ...options }
		const response = await post(resendEvent(type, { id, tags }, more), options)
		t.is(response.statusCode, 200, response.body)
		return response.json() as { duplicate: boolean }
	}
	return {
		...all,
		execute,
		handedOver,
		post,
		report,
		bounced: (mail: Mail, type = 'Permanent') => report('bounced', mail, bounce(type)),
		mail: async ({ id }: { id: string }) =>
			(await execute<Record<string, unknown>>('select * from emails where id = ?', [id]))[0]!,
		eventsOf: async ({ id }: { id: string }) =>
			(
				await execute<{ name: string }>('select name from events where email_id = ? order by id', [
					id,
				])
			).map(({ name }) => name),
	}
}
