import type { Pool } from 'pg'
import { bytes, type RowOf, text, uuid } from '../../db/sql-types.ts'
import { statement } from '../../db/statement.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import { unseal } from '../../db/domains/seal.ts'

type KeyRow = RowOf<typeof dkimKeyOf>

const dkimKeyOf = statement('dkim-key-of', {
	params: { projectId: uuid, domain: text },
	row: { dkim_selector: text.orNull, dkim_private_key: bytes.orNull },
	text: `select dkim_selector, dkim_private_key from domains where project_id = $projectId
		and domain = $domain::text`,
})

const rememberMs = 60_000
/** A domain may get its key at any moment, so its absence is cached only briefly. */
const rememberNoneMs = 2000
const mostRemembered = 10_000

/**
 * Caches the DKIM keys of domains. Concurrent requests for a domain share one look-up, and fail with it:
 * mail must not be sent unsigned because a look-up failed.
 */
export function createDkimKeys(pool: Pool, secret: string) {
	const known = new Map<string, { key: Promise<DkimKey | undefined>; until: number }>()

	function keyFor(projectId: string, domain: string) {
		const name = `${projectId} ${domain}`
		const found = known.get(name)
		if (found && found.until > Date.now()) return found.key
		if (known.size >= mostRemembered) known.clear()
		const key = dkimKeyOf(pool, { projectId, domain }).then(
			([row]) => row && keyOf(domain, row, secret),
		)
		const entry = { key, until: Infinity }
		known.set(name, entry)
		key.then(
			(kept) => (entry.until = Date.now() + (kept ? rememberMs : rememberNoneMs)),
			() => known.delete(name),
		)
		return key
	}

	return async (projectId: string, domains: string[]) =>
		new Map(
			await Promise.all(
				domains.map(async (domain) => [domain, await keyFor(projectId, domain)] as const),
			),
		)
}

function keyOf(domain: string, row: KeyRow, secret: string): DkimKey | undefined {
	if (!row.dkim_selector || !row.dkim_private_key) return undefined
	const privateKey = unseal(row.dkim_private_key, secret).toString()
	return { domain, selector: row.dkim_selector, privateKey }
}
