import type { DomainRecord, DomainRow } from '../../db/domains/domain-records.ts'

/** The result of checking a domain. */
export interface Finding {
	/** Whether all records that sending needs were found; null: unknown. */
	isVerified: boolean | null
	/** null: unchanged. */
	records: DomainRecord[] | null
	/** The fault, in words for the domain's owner. */
	error: string | null
	/** It has stayed unproved for too long, and leaves the provider. */
	leavesProvider?: true
}

/** Checks a domain for one mail provider. */
export interface DomainCheck {
	/**
	 * null: not checked, because too many others were waiting. `isSweep`: nobody waits for the answer, so the provider
	 * is asked only if that may change something.
	 */
	(domain: DomainRow, options?: { isSweep: boolean }): Promise<Finding | null>
}
