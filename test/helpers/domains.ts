import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { ExecutionContext } from 'ava'
import { createDomainChecker } from '../../activities/domain-checking/checker.ts'
import { type CheckedPage, domainActivities } from '../../activities/domains.ts'
import { setup, testSettings } from './app.ts'
import type { DnsRecords } from './dns-server.ts'

export interface DomainBody {
	id: string
	domain: string
	verified: boolean
	status: string
	lastError: string | null
	records: { type: string; name: string; value: string; purpose: string; status: string }[]
}

export const logger = new DefaultLogger('ERROR', () => {})

export async function setupDomains(
	t: ExecutionContext,
	env: object = {},
	dnsServers: string[] = [],
) {
	const defaults = testSettings()
	const context = await setup(t, { settings: { env: { ...defaults.env, ...env }, dnsServers } })
	const { app, pool, withSecretKey: headers } = context
	const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
	const activities = domainActivities({
		pool,
		relay: { wake() {} },
		domains: createDomainChecker(pool, { ...defaults.env, ...env }, dnsServers),
		settings: { platformFrom: 'noreply@tempost.example' },
	})
	const sweepDue = () =>
		new MockActivityEnvironment({}, { logger }).run(activities.checkDomains) as Promise<CheckedPage>
	return {
		...context,
		call,
		add: async (domain: string) => {
			const answer = await call('POST', '/domains', { domain })
			t.is(answer.statusCode, 201, answer.body)
			return answer.json<DomainBody>()
		},
		verify: async (id: string) => (await call('GET', `/domains/${id}/verify`)).json<DomainBody>(),
		/** What the sweep does when every domain is due. */
		async sweep() {
			await pool.query('update domains set next_check_at = now()')
			return sweepDue()
		},
		sweepDue,
		activities,
	}
}

export const smtp = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://relay.example.net:587' }

/** A zone that has what a domain is to have. */
export const zoneOf = ({ domain, records }: DomainBody): Record<string, DnsRecords> => ({
	[domain]: {
		TXT: ['google-site-verification=x', valueOf(records, 'SPF')],
		MX: ['5 mx.example.org'],
	},
	[`tempost._domainkey.${domain}`]: { TXT: [valueOf(records, 'DKIM')] },
	[`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
})
export const valueOf = (records: DomainBody['records'], purpose: string) =>
	records.find((record) => record.purpose === purpose)!.value
export const statuses = ({ records }: DomainBody) =>
	Object.fromEntries(records.map(({ purpose, status }) => [purpose, status]))
