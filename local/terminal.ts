// Terminal output of `npm start` and `npm test`. A closed terminal must not stop a clean shutdown.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

export function say(line: string) {
	process.stdout.write(`${line}\n`)
}

// On a terminal, prints one changing line; elsewhere, a new line every few seconds.
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

// A problem that the user can fix: printed without a stack trace.
export class StartError extends Error {}

// Another process took the port between our check and our start; another port may work.
export class PortTaken extends StartError {}

// The reason for a server's end, from its log: the errors themselves rather than a later stack trace.
export function reasonIn(log: string) {
	const lines = log
		.trim()
		.split('\n')
		.map((line) => line.slice(0, 300))
	const errors = lines.filter((line) => /\b(error|fatal|panic|hint)\b/i.test(line)).slice(0, 5)
	return (errors.length > 0 ? errors : lines.slice(-6)).join('\n')
}
