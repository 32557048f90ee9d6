import type { Pool } from 'pg'
import { providerName, type ProviderSettings } from '../providers/choose.ts'
import { createDns } from './dns.ts'
import type { DomainCheck } from './finding.ts'
import { ownKeyCheck } from './own-key.ts'
import { resendDomains } from './resend.ts'

export interface DomainChecker {
	check: DomainCheck
	/** Removes what the provider knows of a domain by its own id, once no project uses it. */
	remove(providerDomainId: string): Promise<void>
}

/** Domains as the provider of mail wants them. Made by the API, for who asks now, and by the worker. */
export function createDomainChecker(
	pool: Pool,
	env: ProviderSettings & { SESSION_SECRET: string },
	dnsServers: string[],
): DomainChecker {
	const dns = createDns(dnsServers)
	const nothing = async () => {}
	switch (providerName(env)) {
		case 'local':
			// Nothing leaves this machine: there is nobody to whom it would have to be proved.
			return {
				check: async () => ({ isVerified: true, records: [], error: null }),
				remove: nothing,
			}
		case 'smtp': {
			const smtpHost = new URL(env.SMTP_URL!).hostname.replaceAll(/[[\]]/g, '')
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
