import type { PoolClient } from 'pg'
import { type PlatformMail, queuePlatformMails } from '../emails/platform-mail.ts'
import { type Readers, readersOf } from '../projects/members.ts'
import { statement } from '../statement.ts'
import { noteUsage, skipUsage } from './usage-reporting.ts'

export interface BillingRecord {
	customerId: string | null
	subscriptionId: string | null
	subscribed: boolean
	currency: string | null
}

/** No row: nobody has subscribed or set limits yet. $1 project */
export const accountOf = statement<BillingRecord>(
	'billing-account',
	`select customer_id as "customerId", subscription_id as "subscriptionId", subscribed, currency
	from billing_accounts where project_id = $1`,
)

/** Of two at the same moment both get the first one's. $1 project, $2 customer */
export const keepCustomer = statement<{ customerId: string }>(
	'keep-customer',
	`insert into billing_accounts as a (project_id, customer_id) values ($1, $2)
	on conflict (project_id) do update set customer_id = coalesce(a.customer_id, excluded.customer_id)
	returning customer_id as "customerId"`,
)

/**
 * Whether a customer's project has a subscription; no row: it is deleted. Whoever is about to change
 * either is waited for. $1 the project's id outside, $2 customer
 */
export const payerOf = statement<{ subscribed: boolean }>(
	'payer-of-project',
	`select a.subscribed from projects p join billing_accounts a on a.project_id = p.id
	where p.public_id = $1 and a.customer_id = $2 for share of a for key share of p`,
)

const lockCustomer = statement<{ projectId: string; subscribed: boolean }>(
	'lock-customer',
	`select project_id as "projectId", subscribed from billing_accounts
	where customer_id = $1 for no key update`,
)

/** What a payment provider has told under this id is ignored when it is told again. $1 id */
const noteEvent = statement<{ id: string }>(
	'note-stripe-event',
	`insert into provider_events (id) values ($1) on conflict (id) do nothing returning id`,
)

const writeStanding = statement(
	'write-standing',
	`update billing_accounts set subscription_id = $2, subscribed = $3, currency = coalesce($4, currency),
		updated_at = now()
	where project_id = $1`,
)

const suspendUnpaid = statement<Readers>(
	'suspend-unpaid',
	`with due as materialized (
		select id, name, language from projects where id = $1 and disabled_reason is null
	), suspended as materialized (
		select suspend_project(id, 'PAYMENT_FAILED', null) from due
	)
	select ${readersOf('due')}
	from due where (select count(*) from suspended) = 1`,
)

/** Its reputation stays as it is: that is another matter. $1 project */
const liftUnpaid = statement(
	'lift-unpaid',
	`with lifted as (
		update projects set disabled_reason = null, updated_at = now()
		where id = $1 and disabled_reason = 'PAYMENT_FAILED' returning id
	)
	update suspensions s set lifted_at = now() from lifted
	where s.project_id = lifted.id and s.lifted_at is null and s.reason = 'PAYMENT_FAILED'`,
)

interface Standing {
	subscriptionId: string | null
	subscribed: boolean
	currency: string | null
	hasFailed: boolean
}

/**
 * Brings a customer's project to where the customer stands, unless it was done for this event already.
 * The account is held while Stripe is asked, so that who asks later writes later. Answers whether the
 * event is new; a customer that is none of ours changes nothing.
 */
export async function applyStanding(
	db: PoolClient,
	{ eventId, customerId }: { eventId: string; customerId: string },
	ask: (wasSubscribed: boolean) => Promise<Standing>,
	mailsTo: (told: Readers) => Promise<PlatformMail[]>,
): Promise<boolean> {
	const [account] = await lockCustomer(db, [customerId])
	const [event] = await noteEvent(db, [eventId])
	if (!event || !account) return event !== undefined
	const { projectId } = account
	const { subscriptionId, subscribed, currency, hasFailed } = await ask(account.subscribed)
	// What was sent without a subscription nobody pays, what was sent with one is theirs to pay.
	if (subscribed && !account.subscribed) await skipUsage(db, [projectId])
	if (!subscribed && account.subscribed) await noteUsage(db, [projectId])
	await writeStanding(db, [projectId, subscriptionId, subscribed, currency])
	if (!hasFailed) await liftUnpaid(db, [projectId])
	else {
		const [told] = await suspendUnpaid(db, [projectId])
		if (told) await queuePlatformMails(db, [JSON.stringify(await mailsTo(told))])
	}
	return true
}
