import type { Pool, PoolClient } from 'pg'

const anyId = '00000000-0000-0000-0000-000000000000'

/** Records the text of all queries from now on. */
export function recordQueries(pool: Pool) {
	const asked: string[] = []
	const seen = new WeakSet<PoolClient>()
	pool.on('acquire', (client) => {
		if (seen.has(client)) return
		seen.add(client)
		const query = client.query.bind(client) as (...given: unknown[]) => unknown
		client.query = ((...given: unknown[]) => {
			const [first] = given
			const text = typeof first === 'string' ? first : (first as { text: string }).text
			// The ORM writes values into its queries.
			asked.push(text.replaceAll(/'[\da-f-]{36}'/g, `'${anyId}'`))
			return query(...given)
		}) as typeof client.query
	})
	return asked
}
