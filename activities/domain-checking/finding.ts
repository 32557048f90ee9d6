import type { DomainRecord, DomainRow } from '../../db/domains/domain-records.ts'

/** What a look at a domain came to. */
export interface Finding {
	/** Whether all that sending needs is there; null: that could not be found out. */
	isVerified: boolean | null
	/** null: as they were. */
	records: DomainRecord[] | null
	/** What is wrong, for whoever owns the domain. */
	error: string | null
}

/** How a provider of mail wants domains to be set up. */
export interface DomainCheck {
	/** null: so many others were before it that it was not looked at. */
	(domain: DomainRow): Promise<Finding | null>
}
