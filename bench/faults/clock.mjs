// Preloaded into our processes (NODE_OPTIONS=--import=…), this shifts their wall clock by the milliseconds
// in the file CLOCK_FILE. Timers and the monotonic clock are not affected, as when an administrator or NTP
// sets a machine's clock.
import { readFileSync } from 'node:fs'

const Machine = Date
let ahead = 0
setInterval(() => {
	try {
		ahead = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'))
	} catch {
		// it is being written
	}
}, 50).unref()

globalThis.Date = new Proxy(Machine, {
	construct: (_target, given, newTarget) =>
		Reflect.construct(Machine, given.length > 0 ? given : [Machine.now() + ahead], newTarget),
	apply: () => String(new Machine(Machine.now() + ahead)),
	get: (target, name) => (name === 'now' ? () => Machine.now() + ahead : Reflect.get(target, name)),
})
