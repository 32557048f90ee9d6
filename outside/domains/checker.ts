import type { Pool } from 'pg'
import { providerName, type ProviderSettings } from '../providers/choose.ts'
import { createDns } from './dns.ts'
import type { DomainCheck } from './finding.ts'
import { ownKeyCheck } from './own-key.ts'
import { resendDomains } from './resend.ts'

export interface DomainChecker {
	check: DomainCheck
	/** Removes a domain at the provider by the provider's own id, once no project uses it. */
	remove(providerDomainId: string): Promise<void>
	/** Whether each domain is set up at the provider, in the operator's account, before it is proved. */
	setsUpUnproved?: true
}

/** Checks domains for the mail provider in use. Called by the API on request, and by the worker. */
export function createDomainChecker(
	pool: Pool,
	env: ProviderSettings & { SESSION_SECRET: string },
	dnsServers: string[],
): DomainChecker {
	const dns = createDns(dnsServers)
	const nothing = async () => {}
	switch (providerName(env)) {
		case 'local':
			// With the local provider no mail leaves this machine, so there is nothing to prove.
			return {
				check: async () => ({ isVerified: true, records: [], error: null }),
				remove: nothing,
			}
		case 'smtp': {
			// Parsing leaves the case of a host as it is, except in web addresses.
			const { hostname } = new URL(env.SMTP_URL!)
			const smtpHost = hostname.replaceAll(/[[\]]/g, '').toLowerCase()
			return {
				check: ownKeyCheck({ pool, dns, secret: env.SESSION_SECRET, smtpHost }),
				remove: nothing,
			}
		}
		case 'resend':
			return resendDomains({
				pool,
				apiKey: env.RESEND_API_KEY!,
				baseUrl: env.RESEND_BASE_URL,
				dns,
			})
	}
}
