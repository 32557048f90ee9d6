import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import { type DomainRow, takeDueDomains } from '../db/domains/domain-records.ts'
import { beating } from './beating.ts'
import type { DomainChecker } from './domain-checking/checker.ts'
import { noteSwept } from './domain-checking/note.ts'
import { errand } from './errand.ts'

const pageSize = 50
/** Resend takes few requests a second, and a resolver has others to serve. */
const checksAtOnce = 3

export interface CheckedPage {
	checked: number
	verified: number
	lost: number
	/** Whether there may be more that are due. */
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
		/** Checks some of the domains that are due; a second try goes on with others. */
		async checkDomains(): Promise<CheckedPage> {
			return beating(async () => {
				const due = await takeDueDomains(pool, [pageSize])
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
			await errand(pool, () => domains.remove(providerDomainId))
		},
	}

	/** undefined: it was removed meanwhile, or could not be looked at, and comes due again. */
	async function checkDomain(row: DomainRow) {
		const finding = await domains.check(row)
		if (!finding) return undefined
		const { error } = finding
		if (error) log.info('a domain is not as it must be', { domainId: row.id, error })
		const noted = await noteSwept(pool, row, finding, settings.platformFrom)
		if (noted?.wasLost) relay.wake()
		return noted
	}
}
