import { Resend } from 'resend'
import type { DomainRecord, DomainRow } from '../../db/domain-records.ts'
import { dmarcRecord } from './dmarc.ts'
import type { Dns } from './dns.ts'
import type { DomainCheck, Finding } from './finding.ts'

export interface ResendDomainOptions {
	apiKey: string
	baseUrl?: string | undefined
	dns: Dns
}

/** What Resend says instead of what was asked for; `name` is its own code. */
class Refused extends Error {
	readonly code: string

	constructor({ name, message }: { name: string; message: string }) {
		super(message)
		this.code = name
	}
}

/** Domains that Resend signs for: they are set up there under their name, once, whoever asks and how often. */
export function resendDomains({ apiKey, baseUrl, dns }: ResendDomainOptions) {
	const resend = new Resend(apiKey, baseUrl ? { baseUrl: baseUrl.replace(/\/+$/, '') } : {})

	const check: DomainCheck = async (row) => {
		try {
			return await look(row)
		} catch (error) {
			const why = error instanceof Refused ? error.message : String(error)
			return {
				isVerified: null,
				records: row.records,
				error: `Resend could not be asked: ${why}`,
				providerDomainId: null,
			}
		}
	}

	async function look(row: DomainRow): Promise<Finding> {
		const id =
			(await known(row.providerDomainId)) ??
			(await idByName(row.domain)) ??
			(await create(row.domain))
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
		throw new Refused(error)
	}

	async function idByName(domain: string) {
		const { data } = value(await resend.domains.list())
		return data.find(({ name }) => name === domain)?.id
	}

	const get = async (id: string) => value(await resend.domains.get(id))
	const create = async (name: string) => value(await resend.domains.create({ name })).id

	return {
		check,
		/** It is gone afterwards, whoever took it away. */
		async remove(id: string) {
			const { error } = await resend.domains.remove(id)
			if (error && error.name !== 'not_found') throw new Refused(error)
		},
	}
}

function value<T>({
	data,
	error,
}: {
	data: T | null
	error: { name: string; message: string } | null
}) {
	if (error || data === null)
		throw new Refused(error ?? { name: '', message: 'it answered nothing' })
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
