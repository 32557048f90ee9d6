import type { Pool, PoolClient } from 'pg'
import { pauseUnproved } from '../../db/campaigns/campaign-actions.ts'
import {
	type CheckedDomain,
	domainReaders,
	type DomainRow,
	recordCheck,
} from '../../db/domains/domain-records.ts'
import { leaveProvider } from '../../db/domains/pending-domains.ts'
import { queuePlatformMails } from '../../db/emails/platform-mail.ts'
import { transaction } from '../../db/transaction.ts'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import type { Finding } from './finding.ts'

/**
 * If two projects prove a domain at the same moment, the index accepts one. The other tries again and
 * finds the domain taken.
 */
async function settled<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		if ((error as { constraint?: string }).constraint !== 'domains_verified') throw error
		return work()
	}
}

/** Stores the result of a requested check. Undefined: the domain was deleted meanwhile. */
export const recordRequestedCheck = (pool: Pool, row: DomainRow, finding: Finding) =>
	settled(() => record(pool, row, finding, false))

/** Stores that a domain leaves the provider. Undefined: that is no longer so. Wake the relay. */
export async function recordLeaving(
	pool: Pool,
	{ projectId, id, providerDomainId }: DomainRow,
	{ records, error }: Finding,
	taskQueue: string,
) {
	const [domain] = await leaveProvider(pool, {
		projectId,
		domainId: id,
		providerDomainId: providerDomainId!,
		records: records!,
		error: error!,
		taskQueue,
	})
	return domain
}

/**
 * Stores the sweep's result. A lost domain, the pause of its campaigns and the notice to its project's members are
 * one transaction. If the domain was lost, wake the relay. Undefined: the domain was deleted meanwhile.
 */
export const recordSweepCheck = (
	pool: Pool,
	row: DomainRow,
	finding: Finding,
	{ platformFrom, campaignQueue }: { platformFrom: string; campaignQueue: string },
): Promise<CheckedDomain | undefined> =>
	settled(() =>
		transaction(pool, async (db) => {
			const domain = await record(db, row, finding, true)
			if (domain?.wasLost) {
				await pauseUnproved(db, { projectId: domain.projectId, taskQueue: campaignQueue })
				await queuePlatformMails(db, { mails: await letters(db, domain, platformFrom) })
			}
			return domain
		}),
	)

async function record(
	db: Pool | PoolClient,
	{ projectId, id }: DomainRow,
	{ isVerified, records, error }: Finding,
	isSweep: boolean,
) {
	const [domain] = await recordCheck(db, {
		projectId,
		domainId: id,
		isVerified,
		records,
		error,
		isSweep,
	})
	return domain
}

async function letters(db: PoolClient, { projectId, domain, lastError }: DomainRow, from: string) {
	const [readers] = await domainReaders(db, { projectId })
	if (!readers) return []
	const { project, language, members } = readers
	const mail = await renderPlatformMail('domainLost', language, {
		project,
		domain,
		error: lastError ?? '',
	})
	return members.map((to) => ({ from, to, ...mail }))
}
