import type { ExecutionContext } from 'ava'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The records of a name; a missing type is answered "no data". */
export interface DnsRecords {
	A?: string[]
	AAAA?: string[]
	/** Priority and host, as in a zone file: '10 mx.example.com'; '0 .' is the null MX. */
	MX?: string[]
	NS?: string[]
	TXT?: string[]
	CNAME?: string[]
}
/** How the server fails, per type or for all types. */
export type DnsFault = 'NXDOMAIN' | 'SERVFAIL' | 'silence'

type Type = keyof DnsRecords
const types: Record<Type, number> = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28 }
const faults = { SERVFAIL: 2, NXDOMAIN: 3 }

/**
 * A resolver on loopback that answers from the current `zone`; other names don't exist. `queries` lists
 * all questions, as 'MX example.com'.
 */
export async function dnsServer(
	t: ExecutionContext,
	zone: Record<string, DnsFault | { [T in Type]?: string[] | DnsFault }> = {},
) {
	const queries: string[] = []
	const socket = createSocket('udp4')
	socket.on('message', (query, { port, address }) => {
		const { name, type, end } = question(query)
		queries.push(`${type} ${name}`)
		const found = zone[name] ?? 'NXDOMAIN'
		const answer = typeof found === 'string' ? found : (found[type as Type] ?? [])
		if (answer === 'silence') return
		const records = typeof answer === 'string' ? [] : answer
		const header = Buffer.from(query.subarray(0, 12))
		header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? faults[answer] : 0), 2)
		header.writeUInt16BE(records.length, 6)
		header.writeUInt32BE(0, 8)
		const answers = records.map((record) => resource(type as Type, record))
		socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address)
	})
	socket.bind(0, '127.0.0.1')
	await once(socket, 'listening')
	t.teardown(() => socket.close())
	return { address: `127.0.0.1:${socket.address().port}`, zone, queries }
}

function question(query: Buffer) {
	const labels: string[] = []
	let at = 12
	for (let length = query[at]!; length > 0; length = query[at]!) {
		labels.push(query.toString('latin1', at + 1, at + 1 + length))
		at += 1 + length
	}
	const number = query.readUInt16BE(at + 1)
	const type = Object.entries(types).find(([, value]) => value === number)?.[0] ?? String(number)
	return { name: labels.join('.').toLowerCase(), type, end: at + 5 }
}

/** The name is that of the question, at byte 12. */
function resource(type: Type, record: string) {
	const data = dataOf(type, record)
	const head = Buffer.alloc(12)
	head.writeUInt16BE(0xc00c, 0)
	head.writeUInt16BE(types[type], 2)
	head.writeUInt16BE(1, 4)
	head.writeUInt32BE(60, 6)
	head.writeUInt16BE(data.length, 10)
	return Buffer.concat([head, data])
}

function dataOf(type: Type, record: string): Buffer {
	if (type === 'A') return Buffer.from(record.split('.').map(Number))
	if (type === 'AAAA') return ipv6(record)
	if (type === 'TXT')
		return Buffer.concat((record.match(/.{1,255}/gs) ?? ['']).map((part) => prefixed(part)))
	if (type !== 'MX') return nameOf(record)
	const [priority, host] = record.split(' ') as [string, string]
	const head = Buffer.alloc(2)
	head.writeUInt16BE(Number(priority))
	return Buffer.concat([head, nameOf(host)])
}

const prefixed = (text: string) => Buffer.from([text.length, ...Buffer.from(text, 'latin1')])
const nameOf = (name: string) =>
	Buffer.concat([...name.split('.').filter(Boolean).map(prefixed), Buffer.from([0])])

function ipv6(address: string) {
	const [before = '', after = ''] = address.split('::')
	const groups = (part: string) => (part === '' ? [] : part.split(':'))
	const [left, right] = [groups(before), groups(after)]
	const middle = Array.from({ length: 8 - left.length - right.length }, () => '0')
	const all = [...left, ...middle, ...right].map((group) => group.padStart(4, '0'))
	return Buffer.from(all.join(''), 'hex')
}
