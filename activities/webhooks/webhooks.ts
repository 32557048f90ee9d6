import { Context } from '@temporalio/activity'
import type { Pool } from 'pg'
import {
	batchesAtOnce,
	endLease,
	holdDeliveries,
	leaseMs,
	nextWork,
	removeDeliveries,
	takeLease,
	unpackBatches,
} from '../../db/webhooks/webhook-turns.ts'
import type { GuardOptions } from '../../outside/requests/guarded-request.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { notifyOfDisabled } from './disabled-endpoint.ts'
import { deliverDue } from './webhook-delivering.ts'

export interface EndpointKey {
	projectId: string
	endpointId: string
}

export interface WebhookServices {
	pool: Pool
	relay: { wake(): void }
	stopping: AbortSignal
	/** Mails that are being handed over: webhooks leave them the processor. */
	inHand: ReadonlySet<string>
	settings: { webhooks: GuardOptions; secret: string; platformFrom: string; publicUrl: string }
}

export interface TurnEnd {
	/** The wait until there is work again; null: nothing waits. */
	waitMs: number | null
	/** In words for operators. */
	said: string
}

/** Short turns: other endpoints wait for a slot. */
const turnMs = 15_000
const rowsAtOnce = 2000

/**
 * A second try delivers what the first has not recorded: at least once. Only the run of the endpoint calls this,
 * so an endpoint has one turn at a time.
 */
export function webhookActivities(services: WebhookServices) {
	const { pool, stopping } = services
	return {
		async deliverWebhooks(key: EndpointKey): Promise<TurnEnd> {
			return withHeartbeat(() => turn(key))
		},
	}

	async function turn(key: EndpointKey): Promise<TurnEnd> {
		const [endpoint] = await takeLease(pool, key)
		if (!endpoint) return { waitMs: null, said: 'the endpoint is gone' }
		const endsAt = performance.now() + turnMs
		const isOver = () =>
			performance.now() > endsAt || stopping.aborted || Context.current().cancellationSignal.aborted
		let renewal: Promise<unknown> = Promise.resolve()
		const renewing = setInterval(() => {
			renewal = takeLease(pool, key).catch(() => {})
		}, leaseMs / 3)
		let said
		try {
			// In a list they are deliveries, also those that nobody is going to deliver now.
			if (endpoint.isDeleted || endpoint.disabledReason !== null || endpoint.isResting)
				while (!isOver() && (await unpack()) === batchesAtOnce);
			if (endpoint.isDeleted) said = `${await change(removeDeliveries)} removed`
			else if (endpoint.disabledReason !== null) {
				if (!endpoint.isTold) await notifyOfDisabled(services, key, endpoint.disabledReason)
				said = `disabled, ${await change(holdDeliveries)} held`
			} else {
				const { posted, isDisabled } = await deliverDue(services, key, endpoint, isOver)
				if (isDisabled) return { waitMs: 0, said: `${posted} posted, and disabled` }
				said = `${posted} posted`
			}
		} finally {
			clearInterval(renewing)
		}
		// It must not come after the end.
		await renewal
		await endLease(pool, key)
		const [next] = await nextWork(pool, key)
		return { waitMs: next?.dueInMs ?? null, said }

		async function unpack() {
			return (await unpackBatches(pool, { ...key, limit: batchesAtOnce }))[0]!.unpacked
		}

		async function change(page: typeof holdDeliveries) {
			let total = 0
			for (let changed = rowsAtOnce; changed === rowsAtOnce && !isOver(); total += changed)
				changed = (await page(pool, { ...key, limit: rowsAtOnce }))[0]!.changed
			return total
		}
	}
}
