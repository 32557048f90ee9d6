import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

// A process that we remember across restarts of our own. Its pid may have been reused, so its start time
// and command line must match too.
interface Remembered {
	pid: number
	startedAt: number
	mark: string
}

export type Step = [signal: NodeJS.Signals, patienceMs: number]

export function remember(file: string, pid: number, mark: string) {
	const remembered: Remembered = { pid, startedAt: startedAt(pid) ?? Date.now() / 1000, mark }
	writeFileSync(file, JSON.stringify(remembered), { mode: 0o600 })
}

export const forget = (file: string) => rmSync(file, { force: true })

// The pid in the file, if the same process is still running.
export function survivor(file: string) {
	const remembered = read(file)
	if (!remembered) return undefined
	const { pid, mark } = remembered
	const began = startedAt(pid)
	const isSame = began !== undefined && Math.abs(began - remembered.startedAt) < 3
	return isSame && commandOf(pid).includes(mark) ? pid : undefined
}

function read(file: string): Remembered | undefined {
	try {
		const value: Remembered = JSON.parse(readFileSync(file, 'utf8'))
		return value.pid > 1 ? value : undefined
	} catch {
		return undefined // absent, or cut short by a kill during the write
	}
}

// Ends the process that a killed start left behind. Returns whether there was one.
export async function endSurvivor(file: string, steps: Step[]) {
	const pid = survivor(file)
	if (pid) await end(pid, steps)
	forget(file)
	return pid !== undefined
}

// Signals the process, more forcefully at each step; SIGKILL also kills its process group. `hurry` skips
// the wait after the first, polite step.
export async function end(pid: number, steps: Step[], hurry?: AbortSignal) {
	for (const [index, [signal, patienceMs]] of steps.entries()) {
		if (!isAlive(pid)) return
		if (signal === 'SIGKILL') kill(-pid, signal)
		kill(pid, signal)
		const deadline = Date.now() + patienceMs
		while (Date.now() < deadline && isAlive(pid) && !(index === 0 && hurry?.aborted))
			await sleep(20)
	}
}

export function kill(pid: number, signal: NodeJS.Signals) {
	try {
		process.kill(pid, signal)
	} catch {
		// It ended by itself.
	}
}

export const isAlive = (pid: number) => startedAt(pid) !== undefined

// Seconds since the epoch; undefined for a dead process (a zombie is dead). Slim images have no ps.
export function startedAt(pid: number) {
	if (process.platform !== 'linux') {
		const text = ps('lstart=', pid)
		return text ? Date.parse(text) / 1000 : undefined
	}
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
		if (fields[0] === 'Z' || fields[0] === 'X') return undefined
		const boot = /^btime (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]
		return Number(boot) + Number(fields[19]) / 100
	} catch {
		return undefined
	}
}

export function commandOf(pid: number) {
	if (process.platform !== 'linux') return ps('command=', pid)
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
	} catch {
		return ''
	}
}

function ps(column: string, pid: number) {
	try {
		return execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).trim()
	} catch {
		return ''
	}
}
