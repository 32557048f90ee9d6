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
 * Notes what a check found; that a domain was lost and that its people are told is one thing. Wake the
 * relay if it was. Undefined: the domain was removed meanwhile.
 */
export const noteFinding = (
	pool: Pool,
	row: DomainRow,
	{ isVerified, records, error, providerDomainId }: Finding,
	platformFrom: string,
): Promise<CheckedDomain | undefined> =>
	transaction(pool, async (db) => {
		const [domain] = await noteCheck(db, [
			row.projectId,
			row.id,
			isVerified,
			JSON.stringify(records),
			error,
			providerDomainId,
		])
		if (domain?.wasLost)
			await queuePlatformMails(db, [JSON.stringify(await letters(db, domain, platformFrom))])
		return domain
	})

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
