import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { turnLog } from './data-dir.ts'
import { nodeArguments } from './node-arguments.ts'
import { end, forget, remember, type Step } from './processes.ts'
import { say, StartError } from './terminal.ts'

export interface ServiceOptions {
	name: string
	launch: () => ChildProcess
	ready?: (child: ChildProcess) => Promise<void>
	steps: Step[]
	pidFile: string
	mark: string // part of its command line
	log: string
	keep: Keep
}

// Hears of a service before it is launched, so that whatever runs is stopped again. Throws when
// everything is being stopped already.
export type Keep = (service: Service) => void

export interface Service {
	name: string
	stop: (hurry: AbortSignal) => Promise<void>
	// Rejects when the process does not stay up, until the start as a whole is settled.
	failed: Promise<never>
	settle: () => void
}

const longestPauseMs = 30_000
const stableAfterMs = 60_000

// Keeps one process running: what crashes is started again, at first soon and then ever later.
export async function startService(options: ServiceOptions) {
	const { name, launch, ready, steps, pidFile, mark, log } = options
	const state = { isStopping: false, isStarting: true, isReady: !ready, crashes: 0, pauseMs: 500 }
	let child: ChildProcess | undefined
	let timer: NodeJS.Timeout | undefined
	let fail: (error: Error) => void = () => {}
	const failed = new Promise<never>((_, reject) => (fail = reject))
	failed.catch(() => {}) // whoever waits for the start hears of it

	options.keep({
		name,
		failed,
		settle() {
			state.isStarting = false
		},
		async stop(hurry) {
			state.isStopping = true
			clearTimeout(timer)
			if (child?.pid) await end(child.pid, steps, hurry)
			forget(pidFile)
		},
	})
	turnLog(log)
	await ready?.(run())
	if (!ready) run()
	state.isReady = true

	function run() {
		const began = Date.now()
		child = launch()
		if (child.pid) remember(pidFile, child.pid, mark)
		child.once('error', (error) => ended(began, error.message))
		child.once('exit', (code, signal) => ended(began, signal ?? `exit ${code}`))
		return child
	}

	function ended(began: number, how: string) {
		if (state.isStopping || !state.isReady) return
		// What cannot start is not tried for ever.
		if (state.isStarting && ++state.crashes > 1)
			return fail(new StartError(`${name} does not start (${how}):\n${tail(log)}`))
		if (Date.now() - began > stableAfterMs) state.pauseMs = 500
		say(`${name} ended (${how}) and is started again in ${state.pauseMs / 1000} s, see ${log}`)
		timer = setTimeout(() => {
			const again = run()
			ready?.(again).then(
				() => say(`${name} is back`),
				(error: Error) => say(error.message),
			)
		}, state.pauseMs)
		state.pauseMs = Math.min(state.pauseMs * 2, longestPauseMs)
	}
}

// A Node process of ours. Its log goes to a file; what is a warning or worse is shown as well.
export function launchNode(name: string, script: string, env: NodeJS.ProcessEnv, log: string) {
	const leash = new URL('leash.mjs', import.meta.url).href
	const child = spawn(process.execPath, [`--import=${leash}`, ...nodeArguments(script)], {
		cwd: join(import.meta.dirname, '..'),
		env,
		detached: true, // a Ctrl-C reaches only us, and we stop things in their order
		stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
	})
	const file = createWriteStream(log, { flags: 'a', mode: 0o600 })
	file.on('error', () => {})
	for (const stream of [child.stdout!, child.stderr!])
		createInterface({ input: stream }).on('line', (line) => {
			file.write(`${line}\n`)
			const shown = notable(line)
			if (shown) say(`${name}: ${shown}`)
		})
	void once(child, 'close').then(() => file.end())
	return child
}

// A line of a log as a person wants it: undefined if it is nothing to look at.
function notable(line: string) {
	if (!line.startsWith('{')) return line.trim()
	try {
		const { level, msg, err } = JSON.parse(line)
		return level >= 40 ? [msg, err?.message].filter(Boolean).join(': ') : undefined
	} catch {
		return line
	}
}

function tail(log: string) {
	if (!statSync(log, { throwIfNoEntry: false })) return ''
	const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15)
	return lines.map(notable).filter(Boolean).join('\n')
}
