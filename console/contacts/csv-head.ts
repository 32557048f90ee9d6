/** The beginning of a CSV file: its header and the first rows, read as the API reads them. */
export interface CsvHead {
	delimiter: string
	/** The text before the header: a byte order mark, empty lines or Excel's `sep=;`. */
	prefix: string
	/** The header as it is written, with its line end. */
	headerText: string
	names: string[]
	rows: string[][]
}

const mostRows = 5

/** Undefined: there is no header. `isWhole`: the text is the whole file, so its last row is complete. */
export function readHead(text: string, isWhole: boolean): CsvHead | undefined {
	const [start = ''] = /^\uFEFF?[\r\n]*(?:sep=.?[ ,;\t]*(?:\r\n|\n|\r))?[\r\n]*/i.exec(text) ?? []
	const delimiter = delimiterOf(text.slice(start.length))
	const records = readRecords(text, start.length, delimiter, mostRows + 1, isWhole)
	const [header, ...rows] = records
	if (!header || header.cells.every((cell) => cell.trim() === '')) return undefined
	const names = header.cells.map((cell) => cell.trim())
	while (names.at(-1) === '') names.pop()
	return {
		delimiter,
		prefix: start,
		headerText: text.slice(start.length, header.end),
		names,
		rows: rows
			.map(({ cells }) => cells)
			.filter((cells) => cells.some((cell) => cell.trim() !== '')),
	}
}

/** The candidate that occurs most often in the header, outside of quotes. */
function delimiterOf(text: string) {
	const counts = new Map([',', ';', '\t'].map((one) => [one, 0]))
	let isQuoted = false
	for (const character of text) {
		if (character === '"') isQuoted = !isQuoted
		else if (isQuoted) continue
		else if (character === '\n' || character === '\r') break
		else if (counts.has(character)) counts.set(character, counts.get(character)! + 1)
	}
	return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

interface CsvRecord {
	cells: string[]
	/** Where the next record begins. */
	end: number
}

function readRecords(
	text: string,
	from: number,
	delimiter: string,
	most: number,
	isWhole: boolean,
) {
	const records: CsvRecord[] = []
	for (let at = from; at < text.length && records.length < most;) {
		const record = readRecord(text, at, delimiter)
		if (record.end >= text.length && !isWhole) break
		records.push(record)
		at = record.end
	}
	return records
}

function readRecord(text: string, from: number, delimiter: string): CsvRecord {
	const cells: string[] = []
	let cell = ''
	let isQuoted = false
	for (let at = from; at < text.length; at++) {
		const character = text[at]!
		if (isQuoted) {
			if (character !== '"') cell += character
			else if (text[at + 1] === '"') cell += text[++at]
			else isQuoted = false
		} else if (character === '"' && cell === '') isQuoted = true
		else if (character === delimiter) {
			cells.push(cell)
			cell = ''
		} else if (character === '\n' || character === '\r') {
			const end = character === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1
			return { cells: [...cells, cell], end }
		} else cell += character
	}
	return { cells: [...cells, cell], end: text.length }
}

/** A header line in the same form. */
export function headerLine(names: string[], { delimiter, headerText }: CsvHead) {
	const [end = '\n'] = /(?:\r\n|\n|\r)$/.exec(headerText) ?? []
	const cells = names.map((name) =>
		/["\r\n]/.test(name) || name.includes(delimiter) ? `"${name.replaceAll('"', '""')}"` : name,
	)
	return cells.join(delimiter) + end
}
