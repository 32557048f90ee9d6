import type { DomainRecord } from '../../db/domains/domain-records.ts'
import type { Dns } from './dns.ts'
import { shown } from './found.ts'

const isPolicy = (text: string) => /^v=DMARC1\s*(;|$)/i.test(text.trim())

/** Our suggestion only says that there is a policy. A policy of the parent domain counts too. */
export async function dmarcRecord(dns: Dns, domain: string): Promise<DomainRecord> {
	const parent = domain.slice(domain.indexOf('.') + 1)
	const names = parent.includes('.') ? [domain, parent] : [domain]
	const found = await Promise.all(names.map((name) => dns.txt(`_dmarc.${name}`)))
	return {
		type: 'TXT',
		name: `_dmarc.${domain}`,
		value: 'v=DMARC1; p=none',
		purpose: 'DMARC',
		status: found.some((texts) => texts?.some(isPolicy)) ? 'verified' : 'pending',
		found: found[0] === null ? null : shown(found.flatMap((texts) => texts ?? [])),
	}
}
