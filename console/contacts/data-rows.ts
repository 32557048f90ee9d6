/** The types of values that data can have. */
export const dataTypes = [
	{ value: 'text', name: 'Text' },
	{ value: 'number', name: 'Number' },
	{ value: 'flag', name: 'Yes or no' },
	{ value: 'json', name: 'JSON' },
] as const
export type DataType = (typeof dataTypes)[number]['value']

/** A field of data while it is edited. */
export interface DataRow {
	/** Stays while the row is edited. */
	id: number
	key: string
	type: DataType
	text: string
}

export const sortedEntries = (data: Record<string, unknown>) =>
	Object.entries(data).toSorted(([one], [other]) => one.localeCompare(other))

export const rowsOf = (data: Record<string, unknown>): DataRow[] =>
	sortedEntries(data).map(([key, value], id) => ({
		id,
		key,
		type: typeOf(value),
		text: typeof value === 'string' ? value : JSON.stringify(value),
	}))

function typeOf(value: unknown): DataType {
	if (typeof value === 'string') return 'text'
	if (typeof value === 'number') return 'number'
	return typeof value === 'boolean' ? 'flag' : 'json'
}

/** The text that a value begins with when its type is chosen. */
export function textFor(type: DataType, text: string) {
	if (type === 'flag') return text === 'false' ? 'false' : 'true'
	return type === 'number' && Number.isNaN(Number(text)) ? '' : text
}

/** The fault of a row, in words. */
export function faultOf({ key, type, text }: DataRow) {
	if (key.trim() === '') return text.trim() === '' ? undefined : 'Give it a name'
	if (text.trim() === '') return undefined
	if (type === 'number' && !Number.isFinite(Number(text))) return 'This is not a number'
	return type === 'json' && parsed(text) === undefined ? 'This is not JSON' : undefined
}

function valueOf({ type, text }: DataRow): unknown {
	if (text.trim() === '') return null
	if (type === 'text') return text.trim()
	return type === 'number' ? Number(text) : parsed(text)
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}

/** The change in the words of the API: null deletes a field, and fields that stay are left out. */
export function changeBetween(before: Record<string, unknown>, rows: DataRow[]) {
	const shown = new Map(rowsOf(before).map((row) => [row.key, row]))
	/** A row that was not touched keeps the spaces at its ends. */
	const entryOf = (row: DataRow): [key: string, value: unknown] => {
		const was = shown.get(row.key)
		return was && was.type === row.type && was.text === row.text
			? [row.key, before[row.key]]
			: [row.key.trim(), valueOf(row)]
	}
	const now = new Map(rows.filter(({ key }) => key.trim() !== '').map(entryOf))
	const removed = Object.keys(before).filter((key) => !now.has(key))
	const changed = [...now].filter(([key, value]) => !isSame(before[key] ?? null, value))
	return Object.fromEntries([...removed.map((key) => [key, null] as const), ...changed])
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
