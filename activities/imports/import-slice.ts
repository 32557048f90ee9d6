import { isUtf8 } from 'node:buffer'
import { type CsvError, parse } from 'csv-parse/sync'
import { isEmail, normalizeEmail } from '../../db/address.ts'
import type { BadRow, GoodRow } from '../../db/imports/import-staging.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { maxDataBytes, splitData } from '../../db/contacts/contact-data.ts'
import { cutText } from '../../db/storable-text.ts'

/** The whole file can't be read. The message is for the person who uploaded it. */
export class FileFault extends Error {
	override name = 'FileFault'
}

/** Recognised by name, because the class is lost on the way from the thread. */
export const isFileFault = (error: unknown) => error instanceof Error && error.name === 'FileFault'

/** How far a file has been read. */
export interface Bookmark {
	/** The byte at which the next record starts. */
	at: number
	/** Rows are counted as in a spreadsheet. */
	row: number
	/** Null until the header is found. */
	header: { names: string[]; delimiter: string } | null
}

export interface Slice extends Bookmark {
	rows: (GoodRow | BadRow)[]
}

const recordsInSlice = 1000
/** Before the header is known. */
const recordsAtFirst = 20
/** A slice ends after the record that exceeds this. Escaped as JSON, and then for Postgres, it is up to seven times as long. */
const bytesInSlice = 128 * 1024
/** Every row repeats the names of its columns, so a small file with long names becomes large. */
const namesInSlice = 1_000_000
const maxColumns = 1000
const maxNameLength = 100
const sniffedBytes = 64 * 1024
/** Reserved names in lower case, because headers are lower-cased. */
const reservedInLowerCase = new Set(['unsubscribeurl', 'subscribeurl', 'manageurl'])

type Reader = (cells: string[], row: number) => GoodRow | BadRow | undefined

/** The next rows of a CSV file after a bookmark, as objects with the header's names. */
export function readSlice({ file, ...from }: { file: Uint8Array } & Bookmark): Slice {
	const bytes = bufferOf(file)
	if (from.at === 0 && !isUtf8(bytes)) throw notUtf8(bytes)
	const start = skipEmptyLines(bytes, from)
	let { row } = start
	let header = from.header ?? { names: [], delimiter: delimiterOf(bytes) }
	let read = from.header && readerFor(from.header.names)
	const rows: (GoodRow | BadRow)[] = []
	const { records, at } = readRecords(bytes, start.at, header.delimiter, mostRecords(from.header))
	for (const record of records) {
		row += 1
		if (read) {
			const one = read(record, row)
			if (one) rows.push(one)
		} else if (!isBeforeHeader(record)) {
			header = { ...header, names: namesOf(record) }
			read = readerFor(header.names)
		}
	}
	if (!read && at >= bytes.length) throw new FileFault('The file is empty')
	return { rows, at, row, header: read ? header : null }
}

function mostRecords(header: Bookmark['header']) {
	if (!header) return recordsAtFirst
	const length = header.names.reduce((sum, name) => sum + name.length, 1)
	return Math.max(1, Math.min(recordsInSlice, Math.floor(namesInSlice / length)))
}

/** An empty line, or Excel's `sep=;`, which names the separator and may end with it. */
const isBeforeHeader = ([first, ...others]: string[]) =>
	others.every((cell) => cell === '') &&
	(first === '' ? others.length === 0 : isSeparatorLine(first))
const isSeparatorLine = (cell = '') => /^sep=.?$/i.test(cell.trim())

/** Each empty line is a record, and there may be millions. */
function skipEmptyLines(bytes: Buffer, { at, row }: Bookmark) {
	for (; bytes[at] === 0x0a || bytes[at] === 0x0d; at++)
		if (bytes[at] !== 0x0a || bytes[at - 1] !== 0x0d) row += 1
	return { at, row }
}

function readRecords(bytes: Buffer, begin: number, delimiter: string, most: number) {
	const records: string[][] = []
	let at = begin
	const note = (record: string[], { bytes: read }: { bytes: number }) => {
		records.push(record)
		at = begin + read
		if (read > bytesInSlice) throw new SliceFull()
		return null
	}
	try {
		parse(bytes.subarray(begin), {
			bom: begin === 0,
			delimiter,
			record_delimiter: ['\r\n', '\n', '\r'],
			relax_column_count: true,
			relax_quotes: true,
			to: most,
			on_record: note,
		})
	} catch (error) {
		if (error instanceof SliceFull) return { records, at }
		if ((error as CsvError).code === 'CSV_QUOTE_NOT_CLOSED')
			throw unclosedQuote(linesIn(bytes.subarray(0, begin)) + Number((error as CsvError)['lines']))
		throw error
	}
	return { records, at: records.length < most ? bytes.length : at }
}

/** Ends the parser, which takes no limit in bytes. */
class SliceFull extends Error {}

/** The candidate that occurs most often in the first line, outside of quotes. */
function delimiterOf(file: Buffer) {
	const counts = { ',': 0, ';': 0, '\t': 0 }
	let isQuoted = false
	const text = file.toString('utf8', 0, sniffedBytes).replace(/^\uFEFF?[\r\n]*/, '')
	for (const character of text.replace(/^sep=.?[ ,;\t]*[\r\n]+/i, '')) {
		if (character === '"') isQuoted = !isQuoted
		else if (isQuoted) continue
		else if (character === '\n' || character === '\r') break
		else if (character in counts) counts[character as keyof typeof counts] += 1
	}
	return Object.entries(counts).reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

function namesOf(header: string[]) {
	const names = header.map((name) => name.trim().toLowerCase())
	while (names.at(-1) === '') names.pop()
	checkNames(names)
	return names
}

function readerFor(names: string[]): Reader {
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
			// As the contact's, so that it is found when the person is erased.
			email: isEmail(given) ? normalizeEmail(given) : given === '' ? null : cutText(given, 254),
			error,
		})
		if (given === '') return bad('The email address is missing')
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
		// Checked first: a reason that quoted this name could not be stored.
		if (name.includes('\0')) throw new FileFault('The header has a NUL character')
		if (name.length > maxNameLength)
			throw new FileFault(
				`The column "${name.slice(0, 20)}…" has a name of more than ${maxNameLength} characters`,
			)
		if (seen.has(name)) throw new FileFault(`The header names the column "${name}" twice`)
		seen.add(name)
	}
}

/** Names the first few columns, each cut to a readable and storable length. */
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

const unclosedQuote = (line: number) =>
	new FileFault(`A quoted cell is never closed. It starts in line ${line} or earlier.`)

const linesIn = (bytes: Buffer) => bytes.toString('latin1').split(/\r\n|\n|\r/).length - 1
