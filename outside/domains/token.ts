import type { DomainRecord, DomainRow } from '../../db/domains/domain-records.ts'
import type { Dns } from './dns.ts'
import { shown } from './found.ts'

/**
 * A record that shows which project the domain's owner means, because the other records are the same for
 * all projects. null: DNS did not answer. The token is no secret: its place in DNS is the proof.
 */
export async function tokenRecord(
	dns: Dns,
	{ id, domain }: DomainRow,
): Promise<{ record: DomainRecord; isThere: boolean | null }> {
	const record = {
		type: 'TXT',
		name: `_tempost.${domain}`,
		value: `tempost-domain=${id}`,
		purpose: 'OWNERSHIP',
	} as const
	const texts = await dns.txt(record.name)
	const isThere = texts && texts.some((text) => text.trim() === record.value)
	return {
		record: { ...record, status: isThere ? 'verified' : 'pending', found: shown(texts) },
		isThere,
	}
}
