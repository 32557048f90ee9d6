import type { Domain } from '../../client/index.ts'

export type DnsRecord = Domain['records'][number]

export const purposes: Record<DnsRecord['purpose'], string> = {
	DKIM: 'Signs your mail, so that receivers can tell that it is yours',
	SPF: 'Allows our server to send mail of this domain',
	OWNERSHIP: 'Shows that this project may use the domain',
	MX: 'Tells other servers where to return bounces and replies',
	DMARC: 'Tells receivers what to do with mail that only claims to be yours',
}

/** Mail is also sent without these. Resend needs an MX record, but below the domain. */
export const isAdvice = ({ purpose, name }: DnsRecord, domain: string) =>
	purpose === 'DMARC' || (purpose === 'MX' && name === domain)

/** The records without which no mail is sent from a domain. */
export const neededBy = ({ records, domain }: Domain) =>
	records.filter((record) => !isAdvice(record, domain))

/** Whether DNS has the record, although the mail provider has not seen it yet. */
export const isThere = ({ type, found, value, priority, purpose }: DnsRecord) => {
	// Only keys have letters whose case matters.
	const plain = (text: string) => (purpose === 'DKIM' ? bare(text) : bare(text).toLowerCase())
	const wanted = plain(type === 'MX' ? `${priority} ${value}` : value)
	// Receivers ignore a domain's SPF records if it has several.
	const isOne = !isSpf(value) || found?.filter(isSpf).length === 1
	return isOne && (found ?? []).some((one) => plain(one) === wanted)
}

const isSpf = (text: string) => /^"?v=spf1/i.test(text)

/** Without what is the same to DNS and mail servers. */
const bare = (text: string) => text.replaceAll(/["\s]|\.$/g, '')

/** The next step towards a record that is missing or differs. */
export function adviceOf(record: DnsRecord, domain: string) {
	const { found, name } = record
	if (found === null)
		return 'DNS did not answer, so it is not known what it has. Check again later.'
	if (isThere(record))
		return 'DNS has this record. The mail provider has not confirmed it yet. Check again in a few minutes.'
	if (found.length > 0) return differing[record.purpose](record)
	const start = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : undefined
	const shorter = start
		? ` If your DNS provider adds ${domain} to names by itself, enter only ${start} as the name.`
		: name === domain
			? ' Many DNS providers write @ for the domain itself.'
			: ''
	return `DNS has no such record yet. Add it where the DNS of the domain is managed.${shorter} It can take an hour until the change is seen.`
}

const differing: Record<DnsRecord['purpose'], (record: DnsRecord) => string> = {
	DKIM: () =>
		'DNS has another value. Copy the wanted one and replace it, as one text without spaces or quotation marks.',
	SPF: ({ found, value }) =>
		(found ?? []).length > 1
			? 'There are several SPF records, so receivers ignore all of them. Join them into one.'
			: `There is another SPF record. A domain can have only one: add ${value.split(' ')[1]} to it, before its last word.`,
	OWNERSHIP: () => 'DNS has another text there. Add the wanted one beside it.',
	MX: () => 'DNS has another server there. Add the wanted one.',
	DMARC: () => 'DNS has another text there. A DMARC record begins with v=DMARC1.',
}
