import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from './reference.ts'
import { float, int, text, timestamp, uuid } from './sql-types.ts'
import { statement } from './statement.ts'

const requestSchema = defineEntity({
	name: 'RequestBudget',
	tableName: 'request_budgets',
	properties: {
		projectId: p.uuid().primary(),
		/** The caller: "public" or "secret" for a key, or the id of a session. */
		spender: p.text().primary(),
		/** The minute that `leased` counts. */
		windowStart: p.datetime(3),
		/** Requests of that minute that processes have leased, used or not. */
		leased: p.integer(),
	},
})

/** The number of API requests in the current minute, per project and key or session. */
export class RequestBudget extends requestSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'spender']
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (fillfactor = 20)']
}
requestSchema.setClass(RequestBudget)

const sendSchema = defineEntity({
	name: 'SendBudget',
	tableName: 'send_budgets',
	properties: {
		projectId: p.uuid().primary(),
		/** The earliest time of the next mail: the theoretical arrival time of virtual scheduling. */
		nextAt: p.datetime(6),
	},
})

/** When a project may hand over its next mail. */
export class SendBudget extends sendSchema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (fillfactor = 20)']
}
sendSchema.setClass(SendBudget)

/**
 * Leases requests of the current minute, by the database's clock: as many as are waiting, or as many as
 * are wished if that is more, but beyond those waiting at most an eighth of the rest. So at the end of a
 * budget no process holds requests that another could use.
 */
export const leaseRate = statement('lease-rate', {
	params: { projectId: uuid, limit: int, waiting: int, wish: int, spender: text },
	row: {
		granted: int,
		/** Leased in this window by all processes, including this lease. */
		leased: int,
		/** Identifies the window when requests are returned. */
		windowStart: text,
		msLeft: float,
	},
	text: `insert into request_budgets as budget (project_id, spender, window_start, leased)
	values ($projectId, $spender, date_trunc('minute', clock_timestamp()),
		least($limit::int, greatest($waiting::int, least($wish::int, $limit::int / 8))))
	on conflict (project_id, spender) do update set
		window_start = greatest(budget.window_start, excluded.window_start),
		leased = case when budget.window_start < excluded.window_start then excluded.leased
			else greatest(budget.leased, least($limit::int,
				budget.leased + greatest($waiting::int, least($wish::int,
					($limit::int - budget.leased) / 8)))) end
	returning
		new.leased - case when old.window_start = new.window_start then old.leased else 0 end as granted,
		new.leased,
		new.window_start::text as "windowStart",
		(extract(epoch from new.window_start + interval '1 minute' - clock_timestamp()) * 1000)::float8
			as "msLeft"`,
})

export const giveBackRate = statement('give-back-rate', {
	params: { projectId: uuid, windowStart: timestamp, tokens: int, spender: text },
	text: `update request_budgets set leased = leased - $tokens::int
	where project_id = $projectId and spender = $spender and window_start = $windowStart::timestamptz`,
})
