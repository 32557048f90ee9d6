import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { Resend } from 'resend'
import {
	type DomainRecord,
	type DomainRow,
	findDomain,
	isProviderDomainUsed,
	keepProviderDomain,
} from '../../db/domains/domain-records.ts'
import { daysPending, isExpired } from '../../db/domains/pending-domains.ts'
import { dmarcRecord } from './dmarc.ts'
import type { Dns } from './dns.ts'
import type { DomainCheck, Finding } from './finding.ts'
import { foundAt } from './found.ts'
import { tokenRecord } from './token.ts'

export interface ResendDomainOptions {
	pool: Pool
	apiKey: string
	baseUrl?: string | undefined
	dns: Dns
	/** The time limit for all requests of one domain. */
	timeoutMs?: number
	/** The time limit for waiting behind other domains. */
	patienceMs?: number
}

/** The SDK has no time limit of its own, but passes this on to fetch. */
type Limit = { signal: AbortSignal }

/** Only for display, so the check does not wait longer for DNS. */
const lookMs = 3000

/** Resend's refusal. */
class Refused extends Error {}

const foreign =
	'This domain is already set up at Resend, but not by this project. Remove it there, then check again.'

const removed = `Nobody proved this domain for ${daysPending} days, so it was removed at Resend. Check it to get new records.`

/**
 * Domains that Resend signs for. At Resend a domain is set up once, for all projects that claim it. Its
 * records prove the domain, and a token for each project proves the project.
 */
export function resendDomains({
	pool,
	apiKey,
	baseUrl,
	dns,
	timeoutMs = 10_000,
	patienceMs = 10_000,
}: ResendDomainOptions) {
	const { domains } = new Resend(apiKey, baseUrl ? { baseUrl: baseUrl.replace(/\/+$/, '') } : {})
	const limit = (): Limit => ({ signal: AbortSignal.timeout(timeoutMs) })

	const check: DomainCheck = async (row, { isSweep } = { isSweep: false }) => {
		// These look-ups ask the owner's name servers, so they run outside the queue.
		const texts = Promise.all([dmarcRecord(dns, row.domain), tokenRecord(dns, row)])
		const hasExpired = isExpired(row)
		if (
			isSweep &&
			row.verifiedAt === null &&
			!row.tokenExempt &&
			(row.providerDomainId || hasExpired)
		) {
			const [dmarc, token] = await texts
			// Anybody may add any name. Resend counts our requests, and is asked once the owner has answered.
			if (hasExpired && !(token.isThere ?? hadToken(row))) return expired(row, dmarc, token)
			if (token.isThere === false) return unowned(row, dmarc, token)
		}
		try {
			const finding = await inTurn(() => look(row, limit()))
			const { records } = finding ?? {}
			if (!finding || !records) return finding
			const [[dmarc, token], looked] = await Promise.all([texts, withFound(records, row.domain)])
			return withToken({ ...finding, records: [...looked, dmarc] }, row, token)
		} catch (error) {
			if (!(error instanceof Refused)) throw error
			const why = `Resend could not be asked: ${error.message}`
			return { isVerified: null, records: null, error: why }
		}
	}

	async function unowned(
		row: DomainRow,
		dmarc: DomainRecord,
		token: Awaited<ReturnType<typeof tokenRecord>>,
	) {
		const known = row.records.filter(({ purpose }) => ofResend.has(purpose))
		const records = [...(await withFound(known, row.domain)), dmarc]
		const error = known.some(({ status }) => status !== 'verified') ? errorOf(known, '') : null
		return withToken({ isVerified: false, records, error }, row, token)
	}

	/** Its records come from Resend, and a domain that is set up anew gets new ones. */
	function expired(
		{ providerDomainId }: DomainRow,
		dmarc: DomainRecord,
		{ record }: Awaited<ReturnType<typeof tokenRecord>>,
	): Finding {
		const finding = { isVerified: false, records: [dmarc, record], error: removed }
		return providerDomainId ? { ...finding, leavesProvider: true } : finding
	}

	/** Resend says only whether it has found its records. */
	const withFound = (records: DomainRecord[], domain: string) =>
		Promise.all(
			records.map(async (record) => {
				const answer = foundAt(dns, record.type, fullName(record.name, domain))
				return {
					...record,
					found: await Promise.race([answer, sleep(lookMs, null, { ref: false })]),
				}
			}),
		)

	// One domain at a time: these requests and the mails share the account's rate limit at Resend.
	let turn: Promise<unknown> = Promise.resolve()
	function inTurn<T>(work: () => Promise<T>): Promise<T | null> {
		const arrivedAt = performance.now()
		const mine = turn.then(() => (performance.now() - arrivedAt > patienceMs ? null : work()))
		turn = mine.catch(() => {})
		return mine
	}

	async function look({ projectId, id: ours }: DomainRow, limit: Limit): Promise<Finding> {
		// Read again: an earlier domain in the queue may have set it up.
		const [row] = await findDomain(pool, { projectId, domainId: ours })
		if (!row) throw new Refused('the domain was removed')
		const before = (await known(row.providerDomainId, limit)) ?? (await setUp(row, limit))
		if (before === null) return { isVerified: false, records: null, error: foreign }
		const { id } = before
		let now = before
		if (!maySend(now)) {
			value(await domains.verify(id, limit))
			now = value(await domains.get(id, limit))
		}
		const records = now.records.flatMap(recordOf)
		const isVerified = maySend(now)
		return { isVerified, records, error: isVerified ? null : errorOf(records, now.status) }
	}

	/** Someone may have removed it there by hand. */
	async function known(id: string | null, limit: Limit) {
		if (!id) return null
		const answer = await domains.get(id, limit)
		return answer.error?.name === 'not_found' ? null : value(answer)
	}

	/**
	 * A domain that another project has set up is shared. Any other domain of this name at Resend is a
	 * leftover of ours, a previous owner's, or the operator's. If it is not verified, it is created anew, so
	 * that its proof starts with a new key. If it is verified, or partially, it is not given away: null.
	 */
	async function setUp({ projectId, id, domain, providerDomainId }: DomainRow, limit: Limit) {
		const { data } = value(await domains.list({}, limit))
		const found = data.find(({ name }) => name === domain)
		const [shared] = found ? await isProviderDomainUsed(pool, { providerId: found.id }) : []
		const isInUse = found?.status === 'verified' || found?.status.startsWith('partially_')
		if (isInUse && !shared?.used) return null
		if (found && !shared?.used) await remove(found.id, limit)
		const made = shared?.used
			? value(await domains.get(found!.id, limit))
			: value(await domains.create({ name: domain }, limit))
		const gone = [providerDomainId, found?.id].filter((id) => typeof id === 'string')
		const records = made.records.flatMap(recordOf)
		const [kept] = await keepProviderDomain(pool, {
			projectId,
			domainId: id,
			providerId: made.id,
			goneProviderIds: gone,
			records,
		})
		if (kept) return made
		if (!shared?.used) await remove(made.id, limit)
		throw new Refused('the domain was removed or set up again at the same time')
	}

	/** Afterwards it is gone, whoever removed it. */
	async function remove(id: string, limit: Limit) {
		const { error } = await domains.remove(id, limit)
		if (error && error.name !== 'not_found') throw new Refused(error.message)
	}

	return {
		check,
		setsUpUnproved: true as const,
		async remove(id: string) {
			const [shared] = await isProviderDomainUsed(pool, { providerId: id })
			if (!shared!.used) await remove(id, limit())
		},
	}
}

/** Resend names records within their zone: `send.news` for news.example.com. */
export function fullName(name: string, domain: string) {
	const labels = domain.split('.')
	let own = labels.length
	while (own > 0 && !name.endsWith(`.${labels.slice(0, own).join('.')}`)) own -= 1
	return [name, ...labels.slice(own)].join('.')
}

/** Resend's result, combined with the proof that the domain belongs to this project. */
function withToken(
	finding: Finding & { records: DomainRecord[] },
	{ tokenExempt }: DomainRow,
	{ record, isThere }: Awaited<ReturnType<typeof tokenRecord>>,
): Finding {
	if (tokenExempt) return finding
	const records = [...finding.records, record]
	if (isThere) return { ...finding, records }
	const missing =
		isThere === null
			? `DNS did not answer for ${record.name}: this will be checked again.`
			: `There is no TXT record ${record.value} at ${record.name}.`
	const error = finding.error ? `${finding.error} ${missing}` : missing
	const isUnknown = isThere === null && finding.isVerified === true
	return { records, isVerified: isUnknown ? null : false, error }
}

function value<T>({ data, error }: { data: T | null; error: { message: string } | null }) {
	if (error || data === null) throw new Refused(error?.message ?? 'it answered nothing')
	return data
}

interface ResendRecord {
	record: string
	type: string
	name: string
	value: string
	priority?: number
	status: string
}

/** Resend calls a domain partially verified if it may send, but its records for receiving are not found. */
function maySend({ status, records }: { status: string; records: ResendRecord[] }) {
	if (status === 'verified') return true
	const needed = records.flatMap(recordOf)
	const purposes = new Set(needed.map(({ purpose }) => purpose))
	return (
		status.startsWith('partially_') &&
		purposes.has('DKIM') &&
		purposes.has('SPF') &&
		needed.every((record) => record.status === 'verified')
	)
}

/** The result of the last check, for one to which DNS does not answer. */
const hadToken = ({ records }: DomainRow) =>
	records.some(({ purpose, status }) => purpose === 'OWNERSHIP' && status === 'verified')

const ofResend = new Set(['DKIM', 'SPF', 'MX'])

/** Records for receiving and tracking are not used. */
function recordOf(given: ResendRecord): DomainRecord[] {
	const { record, type, name, priority, status } = given
	if (record !== 'DKIM' && record !== 'SPF') return []
	return [
		{
			type: type as DomainRecord['type'],
			name,
			value: given.value,
			...(priority === undefined ? {} : { priority }),
			purpose: record === 'DKIM' ? 'DKIM' : type === 'MX' ? 'MX' : 'SPF',
			status: status === 'verified' ? 'verified' : 'pending',
		},
	]
}

function errorOf(records: DomainRecord[], status: string) {
	const missing = records.filter((record) => record.status !== 'verified')
	if (missing.length === 0) return `Resend says that the domain is ${status.replaceAll('_', ' ')}.`
	const names = missing.map(({ purpose, type, name }) => `${purpose} (${type} ${name})`).join(', ')
	return `Resend has not found these records yet: ${names}.`
}
