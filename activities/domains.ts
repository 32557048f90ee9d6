import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import { type DomainRow, takeDueDomains } from '../db/domains/domain-records.ts'
import { withHeartbeat } from './heartbeat.ts'
import type { DomainChecker } from '../outside/domains/checker.ts'
import { recordLeaving, recordSweepCheck } from '../outside/domains/check-recording.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { cleanUp } from './cleanup.ts'

const pageSize = 50
/** Resend allows only a few requests per second, and the resolver serves others too. */
const checksAtOnce = 3

export interface CheckedPage {
	checked: number
	verified: number
	lost: number
	/** False if more domains may be due. */
	isLast: boolean
}

interface DomainServices {
	pool: Pool
	relay: { wake(): void }
	domains: DomainChecker
	settings: { platformFrom: string }
}

export function domainActivities({ pool, relay, domains, settings }: DomainServices) {
	return {
		/** Checks some of the domains that are due; a second try continues with others. */
		async checkDomains(): Promise<CheckedPage> {
			return withHeartbeat(async () => {
				const due = await takeDueDomains(pool, { limit: pageSize })
				const page = { checked: 0, verified: 0, lost: 0, isLast: due.length < pageSize }
				const waiting = due.values()
				const lane = async () => {
					for (const domain of waiting) {
						const end = await checkDomain(domain)
						if (!end) continue
						page.checked += 1
						if (end.verifiedAt && !domain.verifiedAt) page.verified += 1
						if (end.wasLost) page.lost += 1
					}
				}
				await Promise.all(Array.from({ length: checksAtOnce }, lane))
				return page
			})
		},

		async removeProviderDomain(providerDomainId: string): Promise<void> {
			await cleanUp(pool, () => domains.remove(providerDomainId))
		},
	}

	/** undefined: the domain was deleted meanwhile, or its check failed and will be repeated. */
	async function checkDomain(row: DomainRow) {
		const finding = await domains.check(row, { isSweep: true })
		if (!finding) return undefined
		const { error } = finding
		if (error) log.info('a domain record could not be processed', { domainId: row.id, error })
		if (finding.leavesProvider) {
			const left = await recordLeaving(pool, row, finding, taskQueues.core)
			if (left) relay.wake()
			return left && { ...left, wasLost: false }
		}
		const recorded = await recordSweepCheck(pool, row, finding, {
			platformFrom: settings.platformFrom,
			campaignQueue: taskQueues.core,
		})
		if (recorded?.wasLost) relay.wake()
		return recorded
	}
}
