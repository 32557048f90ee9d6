import type { PoolClient } from 'pg'
import { takeTurn } from '../event-loop.ts'
import { newWebhookSecret } from '../projects/webhook-secret.ts'
import { bytes, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { sealedSecret } from './webhook-secrets.ts'

/**
 * Disables all endpoints of projects whose former users know their secrets, and replaces these. Lock the
 * projects first, so that no endpoint is added meanwhile. The new secrets are shown to nobody: the owner
 * rotates them.
 */
export async function secureEndpoints(db: PoolClient, projectIds: string[], sessionSecret: string) {
	const endpointIds = (await lockEndpoints(db, { projectIds })).map(({ id }) => id)
	const secrets: Buffer[] = []
	for (const _ of endpointIds) {
		await takeTurn()
		secrets.push(sealedSecret(newWebhookSecret(), sessionSecret))
	}
	await disableEndpoints(db, { projectIds, endpointIds, secrets })
}

const lockEndpoints = statement('lock-webhook-endpoints', {
	params: { projectIds: uuid.array },
	row: { id: uuid },
	text: `select id from webhook_endpoints
	where project_id = any($projectIds::uuid[]) and deleted_at is null order by id for no key update`,
})

const disableEndpoints = statement('disable-webhook-endpoints', {
	params: { projectIds: uuid.array, endpointIds: uuid.array, secrets: bytes.array },
	text: `update webhook_endpoints w set secret = s.secret, previous_secret = null, older_secrets = null, rotated_at = now(),
		disabled_reason = coalesce(w.disabled_reason, 'OWNER'), disabled_at = coalesce(w.disabled_at, now()),
		updated_at = now()
	from unnest($endpointIds::uuid[], $secrets::bytea[]) as s(id, secret)
	where w.project_id = any($projectIds::uuid[]) and w.id = s.id`,
})
