export interface Row {
	what: string
	reached: string
	target: string
	/** The same in the barest form, measured in the same run. */
	floor: string
	isMet: boolean
}

export function printTable(title: string, rows: Row[]) {
	const header = { what: title, reached: 'reached', target: 'target', floor: 'floor', met: '' }
	const lines = rows.map(({ isMet, ...row }) => ({ ...row, met: isMet ? 'ok' : 'MISSED' }))
	const all = [header, ...lines]
	const keys = ['what', 'reached', 'target', 'floor', 'met'] as const
	const width = Object.fromEntries(
		keys.map((key) => [key, Math.max(...all.map((row) => row[key].length))]),
	)
	for (const row of all) console.log(keys.map((key) => row[key].padEnd(width[key]!)).join('  '))
	console.log()
}
