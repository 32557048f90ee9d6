import type { Pool } from 'pg'
import { statement } from '../db/statement.ts'
import type { DkimKey } from './providers/provider.ts'
import { unseal } from './seal.ts'

/** $1 project, $2 domains */
const dkimKeysOf = statement<{
	domain: string
	dkim_selector: string | null
	dkim_private_key: Buffer | null
}>(
	'dkim-keys-of',
	`select domain, dkim_selector, dkim_private_key from domains
	where project_id = $1 and domain = any($2::text[])`,
)

const rememberMs = 60_000

/** The keys that domains sign with, as far as we hold them; remembered for a minute. */
export function createDkimKeys(pool: Pool, secret: string) {
	const known = new Map<string, { key: DkimKey | undefined; until: number }>()

	return async (projectId: string, domains: string[]) => {
		const now = Date.now()
		const missing = domains.filter((domain) => (known.get(domain)?.until ?? 0) < now)
		if (missing.length > 0) {
			for (const domain of missing) known.set(domain, { key: undefined, until: now + rememberMs })
			for (const row of await dkimKeysOf(pool, [projectId, missing]))
				known.set(row.domain, { key: keyOf(row, secret), until: now + rememberMs })
		}
		return new Map(domains.map((domain) => [domain, known.get(domain)?.key]))
	}
}

function keyOf(
	row: { domain: string; dkim_selector: string | null; dkim_private_key: Buffer | null },
	secret: string,
): DkimKey | undefined {
	if (!row.dkim_selector || !row.dkim_private_key) return undefined
	const privateKey = unseal(row.dkim_private_key, secret).toString()
	return { domain: row.domain, selector: row.dkim_selector, privateKey }
}
