import { type CsvHead, headerLine, readHead } from './csv-head.ts'
import type { Target } from './import-targets.ts'

/** A file of which only the beginning is read in the browser. */
export interface CsvFile {
	file: File
	head: CsvHead
}

const headBytes = 64 * 1024
/** The API's limit. */
const maxMegabytes = 5

/** Throws what is wrong with the file, in words. */
export async function openCsv(file: File): Promise<CsvFile> {
	if (file.size > maxMegabytes * 2 ** 20)
		throw new Error(`The file is larger than ${maxMegabytes} MB. Split it, and import the parts.`)
	const isWhole = file.size <= headBytes
	const bytes = await file.slice(0, headBytes).arrayBuffer()
	const head = readHead(decoded(bytes, isWhole), isWhole)
	if (!head) throw new Error('The file has no header. Its first line names the columns.')
	return { file, head }
}

function decoded(bytes: ArrayBuffer, isWhole: boolean) {
	try {
		// The end may be half a character.
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
			stream: !isWhole,
		})
	} catch {
		throw new Error('The file is not UTF-8. Save it as “CSV UTF-8”, and choose it again.')
	}
}

/** The file with other names for its columns: only its header is written anew. */
export function renamed({ file, head }: CsvFile, targets: Target[]): File {
	const names = targets.map((target) => target.name)
	const isSame = names.every((name, at) => name === head.names[at]?.toLowerCase())
	if (isSame) return file
	const before = new TextEncoder().encode(head.prefix + head.headerText).length
	const parts = [head.prefix, headerLine(names, head), file.slice(before)]
	return new File(parts, file.name.replace(/(\.csv)?$/i, '.csv'), { type: 'text/csv' })
}

/** How many rows the file has, roughly: counted in slices, so that the page stays quick. */
export async function countRows(file: File) {
	let lines = 0
	const reader = file.stream().getReader()
	for (let slice = await reader.read(); !slice.done; slice = await reader.read())
		for (const byte of slice.value) if (byte === 0x0a) lines++
	return lines
}
