import type { DomainRecord, DomainRow } from '../../db/domains/domain-records.ts'
import type { Dns } from './dns.ts'

/**
 * Tells for which project the owner of a domain has set up its DNS, where other records look the same for
 * all that claim it. null: DNS did not answer. The token is no secret: what counts is where it is.
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
	return { record: { ...record, status: isThere ? 'verified' : 'pending' }, isThere }
}
