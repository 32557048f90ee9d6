import type { Pool, PoolClient } from 'pg'
import {
	type CheckedDomain,
	domainReaders,
	type DomainRow,
	noteCheck,
} from '../../db/domains/domain-records.ts'
import { queuePlatformMails } from '../../db/emails/platform-mail.ts'
import { transaction } from '../../db/transaction.ts'
import { renderPlatformMail } from '../rendering/platform/mail.ts'
import type { Finding } from './finding.ts'

/**
 * Of two projects that prove a domain at the same moment, the index lets one. The other looks again, and
 * finds that it is held.
 */
async function settled<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		if ((error as { constraint?: string }).constraint !== 'domains_verified') throw error
		return work()
	}
}

/** Notes what was found for whoever asked. Undefined: the domain was removed meanwhile. */
export const noteAsked = (pool: Pool, row: DomainRow, finding: Finding) =>
	settled(() => note(pool, row, finding, false))

/**
 * Notes what the sweep found; that a domain was lost and that its people are told is one thing. Wake
 * the relay if it was. Undefined: the domain was removed meanwhile.
 */
export const noteSwept = (
	pool: Pool,
	row: DomainRow,
	finding: Finding,
	platformFrom: string,
): Promise<CheckedDomain | undefined> =>
	settled(() =>
		transaction(pool, async (db) => {
			const domain = await note(db, row, finding, true)
			if (domain?.wasLost)
				await queuePlatformMails(db, [JSON.stringify(await letters(db, domain, platformFrom))])
			return domain
		}),
	)

async function note(
	db: Pool | PoolClient,
	{ projectId, id }: DomainRow,
	{ isVerified, records, error }: Finding,
	isSweep: boolean,
) {
	const [domain] = await noteCheck(db, [
		projectId,
		id,
		isVerified,
		records && JSON.stringify(records),
		error,
		isSweep,
	])
	return domain
}

async function letters(db: PoolClient, { projectId, domain, lastError }: DomainRow, from: string) {
	const [readers] = await domainReaders(db, [projectId])
	if (!readers) return []
	const { project, language, members } = readers
	const mail = await renderPlatformMail('domainLost', language, {
		project,
		domain,
		error: lastError ?? '',
	})
	return members.map((to) => ({ from, to, ...mail }))
}
