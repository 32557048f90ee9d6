import { defineEntity, p } from '@mikro-orm/core'
import { createHmac, randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { statement } from '../statement.ts'

/**
 * What a project's webhooks are signed with, so that a server can tell them from anybody's. After a
 * change both the new and the old one sign for a day, so that no server is locked out on the way.
 */
const schema = defineEntity({
	name: 'WebhookSecret',
	tableName: 'webhook_secrets',
	properties: {
		projectId: p.uuid().primary(),
		/** In the form of Standard Webhooks: `whsec_` and base64. */
		secret: p.text(),
		previous: p.text().nullable(),
		changedAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class WebhookSecret extends schema.class {}
schema.setClass(WebhookSecret)

const prefix = 'whsec_'
const newSecret = () => prefix + randomBytes(24).toString('base64')

interface Secrets {
	secret: string
	previous: string | null
}

/** $1 project, $2 the secret if it has none yet */
const ensureSecret = statement<Secrets>(
	'ensure-webhook-secret',
	`with made as (
		insert into webhook_secrets (project_id, secret) values ($1, $2)
		on conflict (project_id) do nothing returning secret
	)
	select secret, null as previous from made
	union all
	select secret, case when changed_at > now() - interval '1 day' then previous end
	from webhook_secrets where project_id = $1 and not exists (select from made)`,
)

/** $1 project, $2 the new secret */
const changeSecret = statement<Secrets>(
	'change-webhook-secret',
	`insert into webhook_secrets as w (project_id, secret) values ($1, $2)
	on conflict (project_id) do update
		set secret = excluded.secret, previous = w.secret, changed_at = now()
	returning secret, previous`,
)

/** The secret of a project, made when it is first asked for. */
export async function webhookSecret(pool: Pool, projectId: string): Promise<string> {
	const [newest] = await webhookKeys(pool, projectId)
	return newest!
}

/** Each project gets another one when it is next asked for, and the old one signs nothing more. $1 projects */
export const forgetWebhookSecrets = statement(
	'forget-webhook-secrets',
	`delete from webhook_secrets where project_id = any($1::uuid[])`,
)

export async function changeWebhookSecret(db: PoolClient, projectId: string): Promise<string> {
	const [changed] = await changeSecret(db, [projectId, newSecret()])
	return changed!.secret
}

/** All that sign at the moment, the newest first. */
export async function webhookKeys(pool: Pool, projectId: string): Promise<string[]> {
	for (;;) {
		const [found] = await ensureSecret(pool, [projectId, newSecret()])
		// None: somebody else made it in this moment, and by the next look it is there.
		if (found) return found.previous === null ? [found.secret] : [found.secret, found.previous]
	}
}

/** The header webhook-signature of Standard Webhooks. `timestamp` is in seconds. */
export function signWebhook(
	secrets: string[],
	{ id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
	const signed = `${id}.${timestamp}.${body}`
	return secrets
		.map((secret) => Buffer.from(secret.slice(prefix.length), 'base64'))
		.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
		.join(' ')
}
