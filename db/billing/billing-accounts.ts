import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { type PlatformMail, queuePlatformMails } from '../emails/platform-mail.ts'
import { readersColumns, type Readers } from '../projects/members.ts'
import { suspendUnpaid } from '../reputation/suspending.ts'
import { bool, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { tables } from '../tables.ts'
import { createReports, skipUsage } from './usage-reporting.ts'

/** No row: there is no subscription and no limit yet. */
export const accountOf = (em: EntityManager, projectId: string) =>
	tables(em)
		.selectFrom('billing_accounts')
		.select(['customerId', 'subscriptionId', 'subscribed', 'currency'])
		.where('projectId', '=', projectId)
		.executeTakeFirst()

/** In place of a lost customer, if there was one. If two requests meet, both get the first one's customer. */
export const keepCustomer = statement('keep-customer', {
	params: { projectId: uuid, customerId: text, lostId: text.orNull },
	row: { customerId: text.notNull('it has just been set') },
	text: `insert into billing_accounts as a (project_id, customer_id) values ($projectId, $customerId)
	on conflict (project_id) do update
		set customer_id = coalesce(nullif(a.customer_id, $lostId::text), excluded.customer_id)
	returning customer_id as "customerId"`,
})

/**
 * Whether a customer's project has a subscription; no row: the project is deleted. Waits for concurrent
 * changes of either.
 */
export const payerOf = statement('payer-of-project', {
	params: { publicId: uuid, customerId: text },
	row: { subscribed: bool },
	text: `select a.subscribed from projects p join billing_accounts a on a.project_id = p.id
	where p.public_id = $publicId and a.customer_id = $customerId for share of a for key share of p`,
})

const lockCustomer = statement('lock-customer', {
	params: { customerId: text },
	row: { projectId: uuid, subscribed: bool, paymentFailed: bool },
	text: `select project_id as "projectId", subscribed, payment_failed as "paymentFailed" from billing_accounts
	where customer_id = $customerId for no key update`,
})

/** An event that Stripe sends again under the same id is ignored. */
const recordEvent = statement('record-stripe-event', {
	params: { eventId: text },
	row: { id: text },
	text: `insert into provider_events (id) values ($eventId) on conflict (id) do nothing returning id`,
})

const writeSubscription = statement('write-subscription', {
	params: {
		projectId: uuid,
		subscriptionId: text.orNull,
		subscribed: bool,
		currency: text.orNull,
		paymentFailed: bool,
	},
	text: `update billing_accounts set subscription_id = $subscriptionId, subscribed = $subscribed,
		currency = coalesce($currency, currency), payment_failed = $paymentFailed, updated_at = now()
	where project_id = $projectId`,
})

/** A suspension that is being lifted waits, or it would not see that the payment failed. */
const lockPayer = statement('lock-payer', {
	params: { projectId: uuid },
	row: readersColumns,
	text: `select name as project, language, readers_of(id) as members from projects
	where id = $projectId and deleted_at is null for no key update`,
})

/** The project's reputation is a separate matter and stays. */
const liftUnpaid = statement('lift-unpaid', {
	params: { projectId: uuid },
	text: `with lifted as (
		update projects set disabled_reason = null, updated_at = now()
		where id = $projectId and disabled_reason = 'PAYMENT_FAILED' returning id
	)
	update suspensions s set lifted_at = now() from lifted
	where s.project_id = lifted.id and s.lifted_at is null and s.reason = 'PAYMENT_FAILED'`,
})

interface SubscriptionState {
	subscriptionId: string | null
	subscribed: boolean
	currency: string | null
	/** Whether a payment has failed for good. */
	hasFailed: boolean
}

export type Ask = (before: {
	wasSubscribed: boolean
	hadFailed: boolean
}) => Promise<SubscriptionState>

/**
 * Applies the customer's state at Stripe to its project, unless this event was handled before. The account
 * is locked while Stripe is asked, so a later answer is written later. Returns whether the event is new;
 * an unknown customer changes nothing.
 */
export async function applySubscription(
	db: PoolClient,
	{ eventId, customerId }: { eventId: string; customerId: string },
	ask: Ask,
	mailsTo: (readers: Readers) => Promise<PlatformMail[]>,
): Promise<boolean> {
	const [account] = await lockCustomer(db, { customerId })
	const [event] = await recordEvent(db, { eventId })
	if (!event || !account) return event !== undefined
	const { projectId, subscribed: wasSubscribed, paymentFailed: hadFailed } = account
	const { subscriptionId, subscribed, currency, hasFailed } = await ask({
		wasSubscribed,
		hadFailed,
	})
	// Mail sent without a subscription is free; mail sent with one is billed.
	if (subscribed && !wasSubscribed) await skipUsage(db, { projectId })
	if (!subscribed && wasSubscribed) await createReports(db, { projectId })
	await writeSubscription(db, {
		projectId,
		subscriptionId,
		subscribed,
		currency,
		paymentFailed: hasFailed,
	})
	if (!hasFailed) await liftUnpaid(db, { projectId })
	else if (!hadFailed) {
		const [readers] = await lockPayer(db, { projectId })
		if (readers) await queuePlatformMails(db, { mails: await mailsTo(readers) })
		// If it is disabled for another reason, it stays so until it is enabled.
		await suspendUnpaid(db, { projectId })
	}
	return true
}
