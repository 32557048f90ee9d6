// What `npm start` and `npm test` say while they work. Nobody may be reading any more: a closed
// terminal must not stop a clean shutdown.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

export function say(line: string) {
	process.stdout.write(`${line}\n`)
}

// Prints one line that changes on a terminal, and a new line every few seconds anywhere else.
export function startProgress(describe: () => string) {
	const began = Date.now()
	const { isTTY } = process.stdout
	const print = () => {
		const text = `  ${describe()} (${Math.round((Date.now() - began) / 1000)} s)`
		process.stdout.write(isTTY ? `\r\x1b[K${text.slice(0, 99)}` : `${text}\n`)
	}
	const timer = setInterval(print, isTTY ? 200 : 3000)
	return () => {
		clearInterval(timer)
		if (isTTY) process.stdout.write('\r\x1b[K')
	}
}

// Something the person at the terminal can mend: printed without a stack.
export class StartError extends Error {}

// Someone took a port between our look and our start: with another one it may go well.
export class PortTaken extends StartError {}

// What a server's log says about its end: the errors themselves rather than a stack after them.
export function reasonIn(log: string) {
	const lines = log
		.trim()
		.split('\n')
		.map((line) => line.slice(0, 300))
	const errors = lines.filter((line) => /\b(error|fatal|panic|hint)\b/i.test(line)).slice(0, 5)
	return (errors.length > 0 ? errors : lines.slice(-6)).join('\n')
}
