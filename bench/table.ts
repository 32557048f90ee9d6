export interface Row {
	what: string
	reached: string
	target: string
	/** The same in the barest form, measured in the same run. */
	floor: string
	isMet: boolean
}

export function printTable(title: string, rows: Row[]) {
	const header = {
		what: title,
		reached: 'reached',
		target: 'target',
		floor: 'floor',
		ratio: 'ratio',
	}
	const all = [
		{ ...header, met: '' },
		...rows.map((row) => ({ ...row, ratio: ratio(row), met: row.isMet ? 'ok' : 'MISSED' })),
	]
	const keys = ['what', 'reached', 'target', 'floor', 'ratio', 'met'] as const
	const width = Object.fromEntries(
		keys.map((key) => [key, Math.max(...all.map((row) => row[key].length))]),
	)
	for (const row of all) console.log(keys.map((key) => row[key].padEnd(width[key]!)).join('  '))
	console.log()
}

/** The result as a multiple of the floor, if both start with a figure in the same unit. */
function ratio({ reached, floor }: Row) {
	const [ours, bare] = [figure(reached), figure(floor)]
	return ours && bare && ours.unit === bare.unit && bare.value > 0
		? (ours.value / bare.value).toFixed(2)
		: ''
}

function figure(text: string) {
	const [, digits, unit] = /^([\d.,]+) ?([a-zA-Z%/]*)/.exec(text) ?? []
	if (!digits) return undefined
	const word = unit!.includes('/') ? unit!.slice(unit!.indexOf('/')) : unit!
	return { value: Number(digits.replaceAll(',', '')), unit: word }
}
