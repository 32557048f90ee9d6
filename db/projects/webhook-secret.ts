import { defineEntity, p } from '@mikro-orm/core'
import { createHmac, randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { reference } from '../reference.ts'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Signs a project's webhooks, so that a server can verify their origin. After a change the secrets before sign along
 * for a day, so that servers have time to switch.
 */
const schema = defineEntity({
	name: 'WebhookSecret',
	tableName: 'webhook_secrets',
	properties: {
		projectId: p.uuid().primary(),
		/** In the form of Standard Webhooks: `whsec_` and base64. */
		secret: p.text(),
		previous: p.text().nullable(),
		/** Those before it, newest first, if it was changed again within that day. */
		older: p.array().columnType('text[]').nullable(),
		changedAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class WebhookSecret extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(WebhookSecret)

/** In the form of Standard Webhooks: `whsec_` and base64. */
export const newWebhookSecret = () => `whsec_${randomBytes(24).toString('base64')}`

const isLately = `w.changed_at > now() - interval '1 day' and w.previous is not null`
const mostOlder = 4

const ensureSecret = statement('ensure-webhook-secret', {
	params: { projectId: uuid, secret: text },
	row: { secret: text, previous: text.array },
	text: `with made as (
		insert into webhook_secrets (project_id, secret) values ($projectId, $secret)
		on conflict (project_id) do nothing returning secret
	)
	select secret, '{}'::text[] as previous from made
	union all
	select secret, case when ${isLately} then array_prepend(w.previous, w.older) else '{}' end
	from webhook_secrets w where project_id = $projectId and not exists (select from made)`,
})

const changeSecret = statement('change-webhook-secret', {
	params: { projectId: uuid, secret: text },
	row: { secret: text },
	text: `insert into webhook_secrets as w (project_id, secret) values ($projectId, $secret)
	on conflict (project_id) do update
		set secret = excluded.secret, previous = w.secret, changed_at = now(),
			older = case when ${isLately} then (array_prepend(w.previous, w.older))[1:${mostOlder}] end
	returning secret`,
})

/** The secret of a project, created on first use. */
export async function webhookSecret(pool: Pool, projectId: string): Promise<string> {
	const [newest] = await webhookKeys(pool, projectId)
	return newest!
}

/** Gives a project a new secret on its next use; the old one no longer signs. */
export const forgetWebhookSecrets = statement('forget-webhook-secrets', {
	params: { projectIds: uuid.array },
	text: `delete from webhook_secrets where project_id = any($projectIds::uuid[])`,
})

export async function changeWebhookSecret(db: PoolClient, projectId: string): Promise<string> {
	const [changed] = await changeSecret(db, { projectId, secret: newWebhookSecret() })
	return changed!.secret
}

/** All secrets that sign now, newest first. */
export async function webhookKeys(pool: Pool, projectId: string): Promise<string[]> {
	for (;;) {
		const [found] = await ensureSecret(pool, { projectId, secret: newWebhookSecret() })
		// None: another process has just created it, and the next look finds it.
		if (found) return [found.secret, ...found.previous]
	}
}

/**
 * The header webhook-signature of Standard Webhooks; `timestamp` is in seconds. By node:crypto, because the library
 * hashes in JavaScript: 20 payloads of 80 KB held the worker up for 60 ms.
 */
export function signWebhook(
	secrets: string[],
	{ id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
	const sign = (secret: string) =>
		createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
			.update(`${id}.${timestamp}.`)
			.update(body)
			.digest('base64')
	return secrets.map((secret) => `v1,${sign(secret)}`).join(' ')
}
