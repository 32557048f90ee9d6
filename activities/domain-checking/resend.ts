import { Resend } from 'resend'
import type { DomainRecord, DomainRow } from '../../db/domains/domain-records.ts'
import { dmarcRecord } from './dmarc.ts'
import type { Dns } from './dns.ts'
import type { DomainCheck, Finding } from './finding.ts'

export interface ResendDomainOptions {
	apiKey: string
	baseUrl?: string | undefined
	dns: Dns
}

/** What Resend says instead of what was asked for. */
class Refused extends Error {}

const foreign =
	'This domain is set up at Resend already, and not by this project. Once it is removed there, check again.'

/** Domains that Resend signs for, each set up there by whoever has it here. */
export function resendDomains({ apiKey, baseUrl, dns }: ResendDomainOptions) {
	const resend = new Resend(apiKey, baseUrl ? { baseUrl: baseUrl.replace(/\/+$/, '') } : {})

	// One at a time: these requests and the mails share what Resend takes of an account in a second.
	let turn: Promise<unknown> = Promise.resolve()
	const check: DomainCheck = async (row) => {
		const mine = turn.then(() => look(row))
		turn = mine.catch(() => {})
		try {
			return await mine
		} catch (error) {
			const why = error instanceof Refused ? error.message : String(error)
			return { ...nothingNew(row), isVerified: null, error: `Resend could not be asked: ${why}` }
		}
	}

	async function look(row: DomainRow): Promise<Finding> {
		const id = (await known(row.providerDomainId)) ?? (await setUp(row.domain))
		if (id === null) return { ...nothingNew(row), isVerified: false, error: foreign }
		const before = await get(id)
		if (before.status !== 'verified') value(await resend.domains.verify(id))
		const now = before.status === 'verified' ? before : await get(id)
		const records = now.records.flatMap(recordOf)
		const isVerified = now.status === 'verified'
		return {
			isVerified,
			records: [...records, await dmarcRecord(dns, row.domain)],
			error: isVerified ? null : errorOf(records, now.status),
			providerDomainId: id,
		}
	}

	/** Somebody may have removed it there by hand. */
	async function known(id: string | null) {
		if (!id) return null
		const { error } = await resend.domains.get(id)
		if (!error) return id
		if (error.name === 'not_found') return null
		throw new Refused(error.message)
	}

	/**
	 * What stands there under this name we have no note of: our own that was torn off, that of somebody
	 * who had the domain before, or the operator's. None of it proves anything of whoever asks now. What is
	 * not verified is made anew, so that the proof begins with a new key; what is, is not given away: null.
	 */
	async function setUp(domain: string) {
		const { data } = value(await resend.domains.list())
		const found = data.find(({ name }) => name === domain)
		if (found?.status === 'verified') return null
		if (found) await remove(found.id)
		return value(await resend.domains.create({ name: domain })).id
	}

	/** It is gone afterwards, whoever took it away. */
	async function remove(id: string) {
		const { error } = await resend.domains.remove(id)
		if (error && error.name !== 'not_found') throw new Refused(error.message)
	}

	const get = async (id: string) => value(await resend.domains.get(id))

	return { check, remove }
}

const nothingNew = ({ records }: DomainRow) => ({ records, providerDomainId: null })

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
