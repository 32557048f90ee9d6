import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { statement } from './statement.ts'

const requestSchema = defineEntity({
	name: 'RequestBudget',
	tableName: 'request_budgets',
	properties: {
		projectId: p.uuid().primary(),
		/** Who makes the requests: "public" or "secret" for a key, or the id of a session. */
		spender: p.text().primary(),
		/** The minute that `leased` counts. */
		windowStart: p.datetime(3),
		/** Requests of that minute that processes have leased, used or not yet. */
		leased: p.integer(),
	},
})

/** How many API requests were made this minute in a project, by one of its keys or by a session. */
export class RequestBudget extends requestSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'spender']
}
requestSchema.setClass(RequestBudget)

const rateSchema = defineEntity({
	name: 'RateBudget',
	tableName: 'rate_budgets',
	properties: {
		projectId: p.uuid().primary(),
		windowStart: p.datetime(3),
		leased: p.integer(),
	},
})

/** Where the release before counts, whose processes still run while they are replaced. */
export class RateBudget extends rateSchema.class {}
rateSchema.setClass(RateBudget)

const sendSchema = defineEntity({
	name: 'SendBudget',
	tableName: 'send_budgets',
	properties: {
		projectId: p.uuid().primary(),
		/** When the next mail may leave: the theoretical arrival time of virtual scheduling. */
		nextAt: p.datetime(6),
	},
})

/** When a project may hand over its next mail. */
export class SendBudget extends sendSchema.class {}
sendSchema.setClass(SendBudget)

export interface RateLease {
	granted: number
	/** Of the window, by all processes, this lease included. */
	leased: number
	/** Names the window when something is given back. */
	windowStart: string
	msLeft: number
}

/**
 * Leases requests of the current minute, by the database's clock: as many as are waiting for one,
 * and beyond them as many as are wished, but no more than an eighth of what remains, so that at the
 * end of a budget no process sits on what another could use.
 *
 * $1 project, $2 limit, $3 waiting, $4 wished, $5 spender
 */
export const leaseRate = statement<RateLease>(
	'lease-rate',
	`insert into request_budgets as budget (project_id, spender, window_start, leased)
	values ($1, $5, date_trunc('minute', clock_timestamp()),
		least($2::int, greatest($3::int, least($4::int, $2::int / 8))))
	on conflict (project_id, spender) do update set
		window_start = greatest(budget.window_start, excluded.window_start),
		leased = case when budget.window_start < excluded.window_start then excluded.leased
			else greatest(budget.leased, least($2::int,
				budget.leased + greatest($3::int, least($4::int, ($2::int - budget.leased) / 8)))) end
	returning
		new.leased - case when old.window_start = new.window_start then old.leased else 0 end as granted,
		new.leased,
		new.window_start::text as "windowStart",
		(extract(epoch from new.window_start + interval '1 minute' - clock_timestamp()) * 1000)::float8
			as "msLeft"`,
)

/** $1 project, $2 window, $3 how many were not used, $4 spender */
export const giveBackRate = statement(
	'give-back-rate',
	`update request_budgets set leased = leased - $3::int
	where project_id = $1 and spender = $4 and window_start = $2::timestamptz`,
)
