import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { nodeArguments } from '../build/processes.ts'
import { root } from '../build/root.ts'
import { turnLog } from './data-dir.ts'
import { end, forget, remember, type Step } from './processes.ts'
import { say, StartError } from './terminal.ts'

export interface ServiceOptions {
	name: string
	launch: () => ChildProcess
	ready?: (child: ChildProcess) => Promise<void>
	steps: Step[]
	pidFile: string
	mark: string // a part of its command line
	log: string
	keep: Keep
}

// Receives each service before its launch, so that it is stopped in any case. Throws if everything is
// already being stopped.
export type Keep = (service: Service) => void

export interface Service {
	name: string
	stop: (hurry: AbortSignal) => Promise<void>
	// Rejects if the process does not stay up during the start.
	failed: Promise<never>
	settle: () => void
}

const longestPauseMs = 30_000
const stableAfterMs = 60_000

// Keeps one process running: restarts it after a crash, with growing pauses.
export async function startService(options: ServiceOptions) {
	const { name, launch, ready, steps, pidFile, mark, log } = options
	const state = { isStopping: false, isStarting: true, isReady: !ready, crashes: 0, pauseMs: 500 }
	let child: ChildProcess | undefined
	let timer: NodeJS.Timeout | undefined
	let fail: (error: Error) => void = () => {}
	const failed = new Promise<never>((_, reject) => (fail = reject))
	failed.catch(() => {}) // the caller awaits it during the start

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
		// A process that can't start is not retried forever.
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

// Starts a Node process of ours. Its log is written to a file; warnings and errors are also shown.
export function launchNode(name: string, script: string, env: NodeJS.ProcessEnv, log: string) {
	const parentWatch = new URL('parent-watch.mjs', import.meta.url).href
	const child = spawn(process.execPath, [`--import=${parentWatch}`, ...nodeArguments(script)], {
		cwd: root,
		env,
		detached: true, // Ctrl-C reaches only our process, which stops the others in order
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

// A log line in readable form; undefined if it is not worth showing.
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
