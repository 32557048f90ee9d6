import type { Pool } from 'pg'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import type { ExecutionKey } from '../../db/executions/execution-advancing.ts'
import { signWebhook, webhookKeys } from '../../db/projects/webhook-secret.ts'
import type { GuardedRequest } from '../../outside/requests/guarded-request.ts'
import type { Variables } from '../../mail/liquid/look-up.ts'
import { perform, renderText } from '../../mail/rendering.ts'

/** Node sets these headers, whatever the customer's step says. */
const reserved = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])

/** One try of a call. Tries differ only in their timestamp and, with it, their signature. */
export async function webhookRequest(
	pool: Pool,
	{ projectId, executionId }: ExecutionKey,
	visit: number,
	{ config }: Step<'WEBHOOK'>,
	variables: Variables,
): Promise<GuardedRequest> {
	const id = `${executionId}:${visit}`
	const body = config.method === 'GET' ? null : await bodyOf(projectId, config.body, variables)
	const timestamp = Math.floor(Date.now() / 1000)
	const rendered = await perform(projectId, 'deep', { value: config.headers, variables })
	const custom = Object.entries(rendered as typeof config.headers)
		.map(([name, value]) => [name.toLowerCase(), oneLine(value)] as const)
		.filter(([name]) => !reserved.has(name))
	const signature = signWebhook(await webhookKeys(pool, projectId), {
		id,
		timestamp,
		body: body ?? '',
	})
	return {
		url: (await renderText(projectId, config.url, variables)).trim(),
		method: config.method,
		headers: {
			'user-agent': 'Tempost',
			...(body === null ? {} : { 'content-type': 'application/json' }),
			...Object.fromEntries(custom),
			'idempotency-key': id,
			'webhook-id': id,
			'webhook-timestamp': String(timestamp),
			'webhook-signature': signature,
		},
		body,
	}
}

async function bodyOf(projectId: string, body: unknown, variables: Variables) {
	if (typeof body === 'string') return renderText(projectId, body, variables)
	if (body !== null)
		return JSON.stringify(await perform(projectId, 'deep', { value: body, variables }))
	const { id, email, subscribed, data, workflow, execution, event } = variables
	return JSON.stringify({ contact: { id, email, subscribed, data }, workflow, execution, event })
}

const oneLine = (text: string) => text.replaceAll(/[\r\n\0]+/g, ' ')
