import { generateKeyPair } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { type DomainRecord, type DomainRow, keepDkimKey } from '../../db/domains/domain-records.ts'
import { seal } from '../../db/domains/seal.ts'
import { dmarcRecord } from './dmarc.ts'
import type { Dns } from './dns.ts'
import type { DomainCheck } from './finding.ts'
import { shown, shownServers } from './found.ts'
import { spfVerdict } from './spf.ts'

/** A selector per claim: two projects may have records for one domain at the same time. */
const selectorOf = (domainId: string) => `tempost-${domainId.slice(-12)}`
const rsaBits = 2048

interface OwnKeyOptions {
	pool: Pool
	dns: Dns
	/** SESSION_SECRET, which encrypts private keys. */
	secret: string
	/** The SMTP server that sends the mail. */
	smtpHost: string
}

/**
 * Checks domains whose mail we sign and hand to an SMTP server. Receivers judge us by DKIM and SPF, so
 * both are required. Records for replies, bounces and a policy are shown, but are the owner's choice.
 */
export function ownKeyCheck({ pool, dns, secret, smtpHost }: OwnKeyOptions): DomainCheck {
	return async (row) => {
		const { dkimPublicKey, dkimSelector } = row.dkimPublicKey
			? row
			: await makeKey(pool, row, secret)
		const [dkim, spf, mx, dmarc] = await Promise.all([
			dkimRecord(`${dkimSelector}._domainkey.${row.domain}`, dkimPublicKey!),
			spfRecord(row.domain),
			mxRecord(row.domain),
			dmarcRecord(dns, row.domain),
		])
		const needed = [dkim, spf]
		const faults = needed.flatMap(({ fault }) => fault ?? [])
		const isUnknown = needed.some(({ isKnown }) => !isKnown)
		return {
			isVerified: faults.length === 0 ? true : isUnknown ? null : false,
			records: [dkim.record, spf.record, mx, dmarc],
			error: faults.length > 0 ? faults.join(' ') : null,
		}
	}

	async function dkimRecord(name: string, publicKey: string) {
		const texts = await dns.txt(name)
		const keys = texts?.flatMap(
			(text) => /(?:^|;)\s*p=([^;]*)/i.exec(text)?.[1]?.replaceAll(/\s/g, '') ?? [],
		)
		const isOnlyKey = keys && keys.length === 1 && keys[0] === publicKey
		return needed(
			{
				type: 'TXT',
				name,
				value: `v=DKIM1; k=rsa; p=${publicKey}`,
				purpose: 'DKIM',
				found: shown(texts),
			},
			isOnlyKey,
			keys && keys.length > 1
				? `There are several DKIM records at ${name}, and receivers may read any of them. Keep only the one shown here.`
				: keys && keys.length > 0
					? `The DKIM record at ${name} is not the one shown here.`
					: `There is no DKIM record at ${name}.`,
		)
	}

	async function spfRecord(domain: string) {
		const mechanism = isIP(smtpHost) ? `ip${isIP(smtpHost)}:${smtpHost}` : `a:${smtpHost}`
		const texts = await dns.txt(domain)
		const policies = texts?.filter((text) => /^v=spf1(\s|$)/i.test(text))
		const record = {
			type: 'TXT',
			name: domain,
			value: `v=spf1 ${mechanism} ~all`,
			purpose: 'SPF',
			found: shown(policies ?? null),
		} as const
		if (policies && policies.length > 1)
			return needed(
				record,
				false,
				`${domain} has several SPF records: receivers then ignore all of them.`,
			)
		const text = policies?.[0]
		const verdict = text === undefined ? null : await spfVerdict(dns, { domain, text }, smtpHost)
		const isAllowed = verdict ? verdict.isAllowed : policies ? false : undefined
		return needed(
			record,
			isAllowed,
			verdict?.lastHeeded
				? `The SPF record of ${domain} names ${smtpHost} only after ${verdict.lastHeeded}, and receivers read no further.`
				: verdict
					? `The SPF record of ${domain} does not let ${smtpHost} send.`
					: `${domain} has no SPF record.`,
			policies ? smtpHost : domain,
		)
	}

	async function mxRecord(domain: string): Promise<DomainRecord> {
		const found = await dns.mx(domain)
		const servers = found?.filter(({ exchange }) => exchange !== '' && exchange !== '.')
		const first = servers?.toSorted((a, b) => a.priority - b.priority)[0]
		return {
			type: 'MX',
			name: domain,
			value: first?.exchange ?? smtpHost,
			priority: first?.priority ?? 10,
			purpose: 'MX',
			status: first ? 'verified' : 'pending',
			found: shownServers(found),
		}
	}
}

/** `isThere` is undefined if DNS did not answer. */
const needed = (
	record: Omit<DomainRecord, 'status'>,
	isThere: boolean | undefined,
	fault: string,
	asked = record.name,
) => ({
	record: { ...record, status: isThere ? ('verified' as const) : ('pending' as const) },
	isKnown: isThere !== undefined,
	fault: isThere
		? undefined
		: isThere === undefined
			? `DNS did not answer for ${asked}: this will be checked again.`
			: fault,
})

async function makeKey(pool: Pool, { projectId, id }: DomainRow, secret: string) {
	const pair = await promisify(generateKeyPair)('rsa', {
		modulusLength: rsaBits,
		publicKeyEncoding: { type: 'spki', format: 'der' },
		privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
	})
	const dkimSelector = selectorOf(id)
	const dkimPublicKey = pair.publicKey.toString('base64')
	const [kept] = await keepDkimKey(pool, {
		projectId,
		domainId: id,
		selector: dkimSelector,
		sealedKey: seal(Buffer.from(pair.privateKey), secret),
		publicKey: dkimPublicKey,
	})
	return kept ?? { dkimPublicKey, dkimSelector } // it was deleted meanwhile
}
