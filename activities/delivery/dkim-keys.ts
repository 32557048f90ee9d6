import type { Pool } from 'pg'
import { statement } from '../../db/statement.ts'
import type { DkimKey } from '../rendering/dkim.ts'
import { unseal } from '../seal.ts'

interface KeyRow {
	dkim_selector: string | null
	dkim_private_key: Buffer | null
}

/** $1 project, $2 domain */
const dkimKeyOf = statement<KeyRow>(
	'dkim-key-of',
	`select dkim_selector, dkim_private_key from domains where project_id = $1 and domain = $2::text`,
)

const rememberMs = 60_000
/** A domain may get its key at any moment. */
const rememberNoneMs = 2000
const mostRemembered = 10_000

/**
 * The keys that domains sign with, as far as we hold them. Everybody who asks while one is being looked
 * up waits for it, and a look-up that fails fails for them: mail must not leave unsigned for lack of
 * an answer.
 */
export function createDkimKeys(pool: Pool, secret: string) {
	const known = new Map<string, { key: Promise<DkimKey | undefined>; until: number }>()

	function keyFor(projectId: string, domain: string) {
		const name = `${projectId} ${domain}`
		const found = known.get(name)
		if (found && found.until > Date.now()) return found.key
		if (known.size >= mostRemembered) known.clear()
		const key = dkimKeyOf(pool, [projectId, domain]).then(
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
