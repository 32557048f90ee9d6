import { defineEntity, p } from '@mikro-orm/core'
import type { Pool } from 'pg'
import { statement } from './statement.ts'

/** A provider that takes no mail at present. It has no row while all is well. */
const schema = defineEntity({
	name: 'ProviderState',
	tableName: 'provider_states',
	properties: {
		name: p.text().primary(),
		awaySince: p.datetime(3),
		/** When it is asked again. */
		until: p.datetime(3),
		/** Its last answer, without addresses. */
		answer: p.text(),
	},
})

export class ProviderState extends schema.class {}
schema.setClass(ProviderState)

/** A worker that found it away may have died since: its word is good for so long after the next try. */
const staleAfter = `interval '2 minutes'`

/** $1 provider, $2 for how many milliseconds it is left alone, $3 its answer */
const noteAway = statement(
	'note-provider-away',
	`insert into provider_states as s (name, away_since, until, answer)
	values ($1, now(), now() + make_interval(secs => $2::float8 / 1000), $3)
	on conflict (name) do update set until = greatest(s.until, excluded.until), answer = excluded.answer,
		away_since = case when s.until > now() - ${staleAfter} then s.away_since else now() end`,
)

/** $1 provider */
const noteBack = statement('note-provider-back', `delete from provider_states where name = $1`)

export interface AwayProvider {
	name: string
	since: Date
	answer: string
}

/** Providers that have been away for a minute. */
export const awayProviders = statement<AwayProvider>(
	'away-providers',
	`select name, away_since as since, answer from provider_states
	where away_since <= now() - interval '1 minute' and until > now() - ${staleAfter}
	order by away_since limit 1`,
)

export interface Away {
	error: string
	waitMs: number
}

/** Writes down what a worker finds out about its provider, in order; null: it is back. */
export function providerNotes(pool: Pool, name: string) {
	let written: Promise<unknown> = Promise.resolve()
	return (away: Away | null) => {
		const earlier = written
		written = (async () => {
			await earlier
			// A note that is lost while the database is away is made up for by the next.
			await (
				away
					? noteAway(pool, [name, away.waitMs, withoutAddresses(away.error).slice(0, 500)])
					: noteBack(pool, [name])
			).catch(() => {})
		})()
	}
}

const withoutAddresses = (text: string) => text.replaceAll(/\S+@\S+/g, '<address>')
