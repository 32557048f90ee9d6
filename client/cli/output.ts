const barWidth = 30

export type Output = ReturnType<typeof createOutput>

/** Text for people on a terminal, and one JSON document a line for programs. */
export function createOutput(wantsJson: boolean) {
	const isJson = wantsJson || !process.stdout.isTTY
	const showsProgress = process.stderr.isTTY === true && !wantsJson
	let isBarOpen = false
	return {
		isJson,
		/** A result: `text` is its form for people. */
		show(value: unknown, text: () => string) {
			process.stdout.write(`${isJson ? JSON.stringify(value) : printable(text())}\n`)
		},
		/** A remark that is no result. */
		note(text: string) {
			process.stderr.write(`${isBarOpen ? '\r\u001B[K' : ''}${printable(text)}\n`)
			isBarOpen = false
		},
		/** A bar that is drawn again in place. */
		progress(share: number, text: string) {
			if (!showsProgress) return
			isBarOpen = share < 1
			const filled = Math.round(share * barWidth)
			const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
			const percent = String(Math.round(share * 100)).padStart(3)
			process.stderr.write(
				`\r${bar} ${percent} % ${printable(text)}\u001B[K${share >= 1 ? '\n' : ''}`,
			)
		},
	}
}

/** Names of events, for example, come from strangers. A control character in one could command the terminal. */
export const printable = (text: string) => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '\uFFFD')

/** Aligned rows of a name and a value. */
export function rows(values: Record<string, unknown>) {
	const given = Object.entries(values).filter(
		([, value]) => value !== null && value !== undefined && value !== '',
	)
	const width = Math.max(11, ...given.map(([name]) => name.length)) + 3
	return given.map(([name, value]) => `${`${name}:`.padEnd(width)}${String(value)}`).join('\n')
}
