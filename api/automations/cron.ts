// Ours, not croner, which disagrees with Temporal on 6 of the 38 expressions of our test.

// A schedule as Temporal reads it: five fields, or a word for a common one. If both the day of the month
// and the day of the week are given, a day must match both.

const months =
	'january february march april may june july august september october november december'
const days = 'sunday monday tuesday wednesday thursday friday saturday'

interface Field {
	name: string
	from: number
	to: number
	/** Words in place of numbers, which may be cut off after this many letters. */
	words?: { list: string[]; letters: number; first: number }
}

const fields: Field[] = [
	{ name: 'minute', from: 0, to: 59 },
	{ name: 'hour', from: 0, to: 23 },
	{ name: 'day of month', from: 1, to: 31 },
	{ name: 'month', from: 1, to: 12, words: { list: months.split(' '), letters: 3, first: 1 } },
	{ name: 'day of week', from: 0, to: 7, words: { list: days.split(' '), letters: 2, first: 0 } },
]

const shorthands = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

/** The problem of a cron expression, in words; undefined if it is valid and will match a time. */
export function cronProblem(text: string): string | undefined {
	if (shorthands.includes(text)) return undefined
	const parts = text.split(/\s+/)
	if (parts.length !== fields.length)
		return `must have five fields (minute, hour, day of month, month, day of week) or be one of ${shorthands.join(', ')}`
	const values = parts.map((part, index) => valuesOf(part, fields[index]!))
	const wrong = values.indexOf(undefined)
	if (wrong >= 0) {
		const { name, from, to } = fields[wrong]!
		return `has a ${name} that cannot be read: ${parts[wrong]} (${from} to ${to})`
	}
	const [, , daysOfMonth, monthsOfYear] = values as number[][]
	const isEver = monthsOfYear!.some((month) => daysOfMonth!.some((day) => day <= lengthOf(month)))
	return isEver ? undefined : 'never matches any date'
}

const lengthOf = (month: number) => (month === 2 ? 29 : [4, 6, 9, 11].includes(month) ? 30 : 31)

/** `*`, `3`, `1-5`, each with `/step`, and lists of them; undefined if it is invalid. */
function valuesOf(text: string, field: Field): number[] | undefined {
	const values: number[] = []
	for (const part of text.split(',')) {
		const [, range, step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? []
		if (range === undefined || Number(step ?? 1) === 0) return undefined
		const ends = endsOf(range, step !== undefined, field)
		if (!ends) return undefined
		for (let value = ends[0]; value <= ends[1]; value += Number(step ?? 1)) values.push(value)
	}
	return values
}

function endsOf(range: string, hasStep: boolean, field: Field): [number, number] | undefined {
	if (range === '*') return [field.from, field.to]
	const [first, last, ...others] = range.split('-')
	const from = numberOf(first!, field)
	const to = last === undefined ? (hasStep ? field.to : from) : numberOf(last, field)
	if (from === undefined || to === undefined || from > to || others.length > 0) return undefined
	return [from, to]
}

function numberOf(text: string, { from, to, words }: Field): number | undefined {
	const word = words && text.length >= words.letters ? text.toLowerCase() : undefined
	const at = word === undefined ? -1 : words!.list.findIndex((name) => name.startsWith(word))
	const value = at >= 0 ? at + words!.first : /^\d{1,2}$/.test(text) ? Number(text) : undefined
	return value !== undefined && value >= from && value <= to ? value : undefined
}
