// Loaded ahead of a process of ours (NODE_OPTIONS=--import=…), it lets the wall clock of that process be
// set: so many milliseconds as the file CLOCK_FILE says lie between it and the machine's. Timers and the
// monotonic clock go on as they do when an administrator, or NTP, sets the time of a machine.
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
