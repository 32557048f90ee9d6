import type { Pool } from 'pg'
import { Resend } from 'resend'
import {
	type DomainRecord,
	type DomainRow,
	findDomain,
	keepProviderDomain,
} from '../../db/domains/domain-records.ts'
import { dmarcRecord } from './dmarc.ts'
import type { Dns } from './dns.ts'
import type { DomainCheck, Finding } from './finding.ts'

export interface ResendDomainOptions {
	pool: Pool
	apiKey: string
	baseUrl?: string | undefined
	dns: Dns
	/** For all that one domain takes. */
	timeoutMs?: number
	/** For those before it. */
	patienceMs?: number
}

/** The SDK has no time limit of its own, but hands this on to fetch. */
type Limit = { signal: AbortSignal }

/** What Resend says instead of what was asked for. */
class Refused extends Error {}

const foreign =
	'This domain is set up at Resend already, and not by this project. Once it is removed there, check again.'

/** Domains that Resend signs for, each set up there by whoever has it here. */
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

	const check: DomainCheck = async (row) => {
		const dmarc = dmarcRecord(dns, row.domain) // of its owner's resolvers, for which nobody else waits
		try {
			const finding = await inTurn(() => look(row, limit()))
			if (!finding?.records) return finding
			return { ...finding, records: [...finding.records, await dmarc] }
		} catch (error) {
			if (!(error instanceof Refused)) throw error
			const why = `Resend could not be asked: ${error.message}`
			return { isVerified: null, records: null, error: why }
		}
	}

	// One at a time: these requests and the mails share what Resend takes of an account in a second.
	let turn: Promise<unknown> = Promise.resolve()
	function inTurn<T>(work: () => Promise<T>): Promise<T | null> {
		const arrivedAt = performance.now()
		const mine = turn.then(() => (performance.now() - arrivedAt > patienceMs ? null : work()))
		turn = mine.catch(() => {})
		return mine
	}

	async function look({ projectId, id: ours }: DomainRow, limit: Limit): Promise<Finding> {
		// As it is now: who was before may have set it up.
		const [row] = await findDomain(pool, [projectId, ours])
		if (!row) throw new Refused('the domain was removed')
		const before = (await known(row.providerDomainId, limit)) ?? (await setUp(row, limit))
		if (before === null) return { isVerified: false, records: null, error: foreign }
		const { id } = before
		if (before.status !== 'verified') value(await domains.verify(id, limit))
		const now = before.status === 'verified' ? before : value(await domains.get(id, limit))
		const records = now.records.flatMap(recordOf)
		const isVerified = now.status === 'verified'
		return { isVerified, records, error: isVerified ? null : errorOf(records, now.status) }
	}

	/** Somebody may have removed it there by hand. */
	async function known(id: string | null, limit: Limit) {
		if (!id) return null
		const answer = await domains.get(id, limit)
		return answer.error?.name === 'not_found' ? null : value(answer)
	}

	/**
	 * What stands there under this name we have no note of: our own that was torn off, that of somebody
	 * who had the domain before, or the operator's. None of it proves anything of whoever asks now. What is
	 * not verified is made anew, so that the proof begins with a new key; what is, is not given away: null.
	 */
	async function setUp({ projectId, id, domain, providerDomainId }: DomainRow, limit: Limit) {
		const { data } = value(await domains.list({}, limit))
		const found = data.find(({ name }) => name === domain)
		if (found?.status === 'verified') return null
		if (found) await remove(found.id, limit)
		const made = value(await domains.create({ name: domain }, limit))
		const gone = [providerDomainId, found?.id]
		const records = JSON.stringify(made.records.flatMap(recordOf))
		const [kept] = await keepProviderDomain(pool, [projectId, id, made.id, gone, records])
		if (kept) return made
		await remove(made.id, limit)
		throw new Refused('the domain was removed, or set up anew, at the same time')
	}

	/** It is gone afterwards, whoever took it away. */
	async function remove(id: string, limit: Limit) {
		const { error } = await domains.remove(id, limit)
		if (error && error.name !== 'not_found') throw new Refused(error.message)
	}

	return { check, remove: (id: string) => remove(id, limit()) }
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

/** Those for receiving and tracking are none of ours. */
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
