import { cutText } from '../../db/storable-text.ts'
import type { Dns } from './dns.ts'

const mostAnswers = 5
/** A DKIM key of 4,096 bits fits. */
const mostCharacters = 1000

/** Answers of DNS as they are kept and shown. Anybody may have written them, at any length. */
export const shown = (answers: string[] | null) =>
	answers && answers.slice(0, mostAnswers).map((answer) => cutText(answer, mostCharacters))

/** Mail servers, as in a zone file. */
export const shownServers = (servers: Awaited<ReturnType<Dns['mx']>>) =>
	shown(servers && servers.map(({ priority, exchange }) => `${priority} ${exchange || '.'}`))

/** The answer of DNS to a name. */
export async function foundAt(dns: Dns, type: 'TXT' | 'CNAME' | 'MX', name: string) {
	if (type === 'MX') return shownServers(await dns.mx(name))
	return shown(await (type === 'TXT' ? dns.txt(name) : dns.cname(name)))
}
