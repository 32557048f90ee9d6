import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { createDns } from '../../outside/domains/dns.ts'
import { type ResendDomainOptions, resendDomains } from '../../outside/domains/resend.ts'
import { startApp } from './app.ts'
import { type DnsRecords, dnsServer } from './dns-server.ts'
import { type DomainBody, setupDomains } from './domains.ts'
import { resendDomainsFake } from './resend-domains-fake.ts'

export async function setupResend(t: ExecutionContext, options?: Partial<ResendDomainOptions>) {
	const resend = await resendDomainsFake(t)
	const { address, zone } = await dnsServer(t)
	const access = { apiKey: 're_test', baseUrl: resend.url, dns: createDns([address]) }
	const checkerOf = (options: object) => (pool: Pool) =>
		resendDomains({ pool, ...access, ...options })
	const env = { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
	const context = await setupDomains(t, env, [address], options && checkerOf(options))
	/** Simulates another process. */
	const another = async (options: Partial<ResendDomainOptions>) =>
		startApp(t, context.orm, { services: { checker: checkerOf(options)(context.pool) } })
	/** Puts the token of a project into the domain's DNS. */
	const own = ({ records }: DomainBody) => {
		const { name, value } = records.find(({ purpose }) => purpose === 'OWNERSHIP')!
		zone[name] = { TXT: [...((zone[name] as DnsRecords | undefined)?.TXT ?? []), value] }
	}
	return { ...context, resend, another, own, zone }
}
