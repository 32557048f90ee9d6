import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import type { Capacity } from '../../api/requests/overload.ts'
import { createDomainChecker, type DomainChecker } from '../../outside/domains/checker.ts'
import { type CheckedPage, domainActivities } from '../../activities/domains.ts'
import { createProject, setup, startApp, testSettings } from './app.ts'
import type { DnsRecords } from './dns-server.ts'

export interface DomainBody {
	id: string
	domain: string
	verified: boolean
	status: string
	lastError: string | null
	records: {
		type: string
		name: string
		value: string
		purpose: string
		status: string
		found: string[] | null
	}[]
}

export const logger = new DefaultLogger('ERROR', () => {})

export async function setupDomains(
	t: ExecutionContext,
	env: object = {},
	dnsServers: string[] = [],
	/** Replaces the checker that these settings select. */
	checkerOf?: (pool: Pool) => DomainChecker,
	capacity: Capacity = {},
) {
	const settings = { env: { ...testSettings().env, ...env }, dnsServers }
	const context = await setup(t, { settings })
	const { orm, pool, withSecretKey: headers } = context
	const checker = checkerOf?.(pool)
	const { app } = checker
		? await startApp(t, orm, { settings, services: { checker, capacity } })
		: context
	const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
	const activities = domainActivities({
		pool,
		relay: { wake() {} },
		domains: checker ?? createDomainChecker(pool, settings.env, dnsServers),
		settings: { platformFrom: 'noreply@tempost.example' },
	})
	const sweepDue = () =>
		new MockActivityEnvironment({}, { logger }).run(activities.checkDomains) as Promise<CheckedPage>
	/** A second project that adds domains. */
	async function rival() {
		const other = await createProject(orm)
		const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
			app.inject({ method, url, headers: other.withSecretKey, ...(payload ? { payload } : {}) })
		return {
			...other,
			call: ask,
			add: async (domain: string) => {
				const answer = await ask('POST', '/domains', { domain })
				t.is(answer.statusCode, 201, answer.body)
				return answer.json<DomainBody>()
			},
			verify: (id: string) => ask('GET', `/domains/${id}/verify`),
			list: async () =>
				(await ask('GET', `/domains/project/${other.project.id}`)).json<DomainBody[]>(),
		}
	}
	return {
		...context,
		app,
		call,
		rival,
		add: async (domain: string) => {
			const answer = await call('POST', '/domains', { domain })
			t.is(answer.statusCode, 201, answer.body)
			return answer.json<DomainBody>()
		},
		verify: async (id: string) => (await call('GET', `/domains/${id}/verify`)).json<DomainBody>(),
		/** Runs the sweep with all domains due. Their times are rounded, so now may be a moment ahead. */
		async sweep() {
			await pool.query(`update domains set next_check_at = now() - interval '1 second'`)
			return sweepDue()
		},
		sweepDue,
		activities,
	}
}

export const smtp = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://relay.example.net:587' }

/** A zone with all records that a domain needs. */
export const zoneOf = ({ domain, records }: DomainBody): Record<string, DnsRecords> => ({
	[domain]: {
		TXT: ['google-site-verification=x', valueOf(records, 'SPF')],
		MX: ['5 mx.example.org'],
	},
	[nameOf(records, 'DKIM')]: { TXT: [valueOf(records, 'DKIM')] },
	[`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
})
const recordOf = (records: DomainBody['records'], purpose: string) =>
	records.find((record) => record.purpose === purpose)!
export const valueOf = (records: DomainBody['records'], purpose: string) =>
	recordOf(records, purpose).value
export const nameOf = (records: DomainBody['records'], purpose: string) =>
	recordOf(records, purpose).name
export const foundOf = ({ records }: DomainBody) =>
	Object.fromEntries(records.map(({ purpose, found }) => [purpose, found]))
export const statuses = ({ records }: DomainBody) =>
	Object.fromEntries(records.map(({ purpose, status }) => [purpose, status]))
