import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { type CsvError, parse } from 'csv-parse'
import { isEmail, normalizeEmail } from '../../db/address.ts'
import type { BadRow, GoodRow } from '../../db/imports/import-staging.ts'
import { maxDataBytes, splitData } from '../rendering/contact-data.ts'
import { cutText } from '../rendering/storable-text.ts'

/** The file as a whole cannot be read; the message is for whoever uploaded it. */
export class FileFault extends Error {}

const maxColumns = 1000
const maxNameLength = 100
const sliceBytes = 64 * 1024
/** What a header cannot spell, because headers are lower-cased. */
const reservedInLowerCase = new Set(['unsubscribeurl', 'subscribeurl', 'manageurl'])

type Reader = (cells: string[], row: number) => GoodRow | BadRow | undefined

/**
 * The rows of a CSV file in its order, some thousand at a time, in the header's terms. Rows are counted
 * as a spreadsheet does.
 */
export async function* readRows(file: Buffer): AsyncGenerator<(GoodRow | BadRow)[]> {
	if (!isUtf8(file)) throw notUtf8(file)
	let row = 0
	let read: Reader | undefined
	for await (const records of readRecords(file)) {
		const rows: (GoodRow | BadRow)[] = []
		for (const record of records) {
			row += 1
			if (read) {
				const one = read(record, row)
				if (one) rows.push(one)
			} else if (!isBeforeHeader(record)) read = readerFor(record)
		}
		yield rows
	}
	if (!read) throw new FileFault('The file is empty')
}

/** An empty line, or Excel's `sep=;`, which names the separator and may end with it. */
const isBeforeHeader = ([first, ...others]: string[]) =>
	others.every((cell) => cell === '') &&
	(first === '' ? others.length === 0 : isSeparatorLine(first))
const isSeparatorLine = (cell = '') => /^sep=.?$/i.test(cell.trim())

/** In slices, with a turn for whatever else this process does after each of them. Empty lines are records. */
async function* readRecords(file: Buffer): AsyncGenerator<string[][]> {
	// Without what it could say of each record, which costs as much as the parsing.
	const parser = parse({
		bom: true,
		delimiter: delimiterOf(file),
		record_delimiter: ['\r\n', '\n', '\r'],
		relax_column_count: true,
		relax_quotes: true,
	})
	let records: string[][] = []
	parser.on('data', (record: string[]) => records.push(record))
	const ended = finished(parser)
	ended.catch(() => {}) // it is thrown below
	for (let at = 0; at < file.length && !parser.destroyed; at += sliceBytes) {
		const isTaken = parser.write(file.subarray(at, at + sliceBytes))
		if (!isTaken) await once(parser, 'drain').catch(() => {}) // it ended early, and says so itself
		await setImmediate()
		yield records
		records = []
	}
	if (!parser.destroyed) parser.end()
	try {
		await ended
	} catch (error) {
		if ((error as CsvError).code === 'CSV_QUOTE_NOT_CLOSED') throw unclosedQuote(error as CsvError)
		throw error
	}
	yield records
}

/** Whichever of the three the first line has most of, outside of quotes. */
function delimiterOf(file: Buffer) {
	const counts = { ',': 0, ';': 0, '\t': 0 }
	let isQuoted = false
	const text = file.toString('utf8', 0, sliceBytes).replace(/^\uFEFF?[\r\n]*/, '')
	for (const character of text.replace(/^sep=.?[ ,;\t]*[\r\n]+/i, '')) {
		if (character === '"') isQuoted = !isQuoted
		else if (isQuoted) continue
		else if (character === '\n' || character === '\r') break
		else if (character in counts) counts[character as keyof typeof counts] += 1
	}
	return Object.entries(counts).reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

function readerFor(header: string[]): Reader {
	const names = header.map((name) => name.trim().toLowerCase())
	while (names.at(-1) === '') names.pop()
	checkNames(names)
	const emailAt = names.indexOf('email')
	const subscribedAt = names.indexOf('subscribed')
	const columns = names.flatMap((name, at) =>
		name === '' || at === emailAt || at === subscribedAt || isReserved(name)
			? []
			: [{ at, key: `${JSON.stringify(name)}:` }],
	)
	const width = names.length

	return function read(cells, row) {
		if (cells.every((cell) => cell.trim() === '')) return undefined
		const given = cells[emailAt]?.trim() ?? ''
		const bad = (error: string): BadRow => ({
			row,
			email: given === '' ? null : cutText(given, 254),
			error,
		})
		if (given === '') return bad('The email is missing')
		if (!isEmail(given)) return bad('This is not an email address')
		for (let at = 0; at < Math.min(width, cells.length); at++)
			if (cells[at]!.includes('\0')) return bad(`The column "${names[at]}" has a NUL character`)
		const members: string[] = []
		for (const { at, key } of columns) {
			const value = cells[at]?.trim()
			if (value) members.push(key + JSON.stringify(value))
		}
		const data = `{${members.join(',')}}`
		if (data.length * 3 > maxDataBytes && Buffer.byteLength(data) > maxDataBytes)
			return bad('The data of this row exceeds 64 KB in total')
		return {
			row,
			email: normalizeEmail(given),
			subscribed: subscribedOf(subscribedAt === -1 ? undefined : cells[subscribedAt]),
			data,
		}
	}
}

function checkNames(names: string[]) {
	if (!names.includes('email')) throw withoutEmail(names)
	if (names.length > maxColumns)
		throw new FileFault(`The header has more than ${maxColumns} columns`)
	const seen = new Set<string>()
	for (const name of names) {
		if (name === '') continue
		// First: a reason that quoted one could not be stored.
		if (name.includes('\0')) throw new FileFault('The header has a NUL character')
		if (name.length > maxNameLength)
			throw new FileFault(
				`The column "${name.slice(0, 20)}…" has a name of more than ${maxNameLength} characters`,
			)
		if (seen.has(name)) throw new FileFault(`The header names the column "${name}" twice`)
		seen.add(name)
	}
}

/** Names the first few columns, each cut to what can be read and stored. */
function withoutEmail(names: string[]) {
	const shown = names.slice(0, 10).map((name) => `"${cutText(name.replaceAll('\0', ''), 40)}"`)
	const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
	const found = names.length === 0 ? 'no names' : shown.join(', ') + more
	return new FileFault(`The header has no column "email". It has ${found}.`)
}

const isReserved = (name: string) =>
	reservedInLowerCase.has(name) ||
	!Object.hasOwn(splitData(Object.fromEntries([[name, 'x']])).stored, name)

function subscribedOf(cell: string | undefined) {
	const word = cell?.trim().toLowerCase() ?? ''
	return word === '' ? null : word === 'true' || word === '1' || word === 'yes'
}

function notUtf8(file: Buffer) {
	const isUtf16 =
		file.length > 1 && (file.readUInt16BE() === 0xfeff || file.readUInt16BE() === 0xfffe)
	return new FileFault(
		`The file is not UTF-8${isUtf16 ? ' but UTF-16' : ''}. Save it as "CSV UTF-8" and upload it again.`,
	)
}

const unclosedQuote = (error: CsvError) =>
	new FileFault(
		`A quoted cell is never closed. It begins in line ${String(error['lines'])} or before.`,
	)
