import { defineEntity, p } from '@mikro-orm/core'
import type { Pool } from 'pg'
import { float, text, timestamp } from './sql-types.ts'
import { statement } from './statement.ts'

/** A provider that accepts no mail at present. An available provider has no row. */
const schema = defineEntity({
	name: 'ProviderState',
	tableName: 'provider_states',
	properties: {
		name: p.text().primary(),
		awaySince: p.datetime(3),
		/** The time of the next try. */
		until: p.datetime(3),
		/** Its last answer, without addresses. */
		answer: p.text(),
	},
})

export class ProviderState extends schema.class {}
schema.setClass(ProviderState)

/**
 * A worker that found it unavailable may have died since, so its report expires this long after the next
 * try.
 */
const staleAfter = `interval '2 minutes'`

const recordAway = statement('record-provider-away', {
	params: {
		provider: text,
		/** How long until the next try. */
		waitMs: float,
		error: text,
	},
	text: `insert into provider_states as s (name, away_since, until, answer)
	values ($provider, now(), now() + make_interval(secs => $waitMs::float8 / 1000), $error)
	on conflict (name) do update set until = greatest(s.until, excluded.until), answer = excluded.answer,
		away_since = case when s.until > now() - ${staleAfter} then s.away_since else now() end`,
})

const recordBack = statement('record-provider-back', {
	params: { provider: text },
	text: `delete from provider_states where name = $provider`,
})

/** Providers that have been unavailable for a minute. */
export const awayProviders = statement('away-providers', {
	params: {},
	row: { name: text, since: timestamp, answer: text },
	text: `select name, away_since as since, answer from provider_states
	where away_since <= now() - interval '1 minute' and until > now() - ${staleAfter}
	order by away_since limit 1`,
})

export interface Away {
	error: string
	waitMs: number
}

/** Stores what a worker finds out about its provider, in order; null: it is available again. */
export function providerReports(pool: Pool, name: string) {
	let written: Promise<unknown> = Promise.resolve()
	return (away: Away | null) => {
		const earlier = written
		written = (async () => {
			await earlier
			// A report that is lost during an outage of the database is replaced by the next.
			await (
				away
					? recordAway(pool, {
							provider: name,
							waitMs: away.waitMs,
							error: withoutAddresses(away.error).slice(0, 500),
						})
					: recordBack(pool, { provider: name })
			).catch(() => {})
		})()
	}
}

const withoutAddresses = (text: string) => text.replaceAll(/\S+@\S+/g, '<address>')
