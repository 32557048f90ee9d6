import { readdirSync, readFileSync } from 'node:fs'
import type { Stack } from './stack.ts'

const ticksPerSecond = 100

/** A process and all its descendants. */
export function family(pid: number): number[] {
	const children = new Map<number, number[]>()
	for (const name of readdirSync('/proc')) {
		const fields = /^\d+$/.test(name) ? statOf(Number(name)) : null
		if (fields) children.set(fields.parent, [...(children.get(fields.parent) ?? []), Number(name)])
	}
	const withChildren = (one: number): number[] => [
		one,
		...(children.get(one) ?? []).flatMap(withChildren),
	]
	return withChildren(pid)
}

/** CPU seconds of a process and all its children, including ended ones. */
export const cpuSeconds = (pid: number): number =>
	family(pid).reduce((total, one) => total + (statOf(one)?.ticks ?? 0), 0) / ticksPerSecond

function statOf(pid: number) {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
		const fields = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.map(Number)
		const [utime, stime, cutime, cstime] = fields.slice(11, 15) as [number, number, number, number]
		return { parent: fields[1]!, ticks: utime + stime + cutime + cstime }
	} catch {
		return null // it has ended
	}
}

export interface CpuMeter {
	/** Since the last reading, by process. */
	read(): { worker: number; api: number; postgres: number; temporal: number; all: number }
}

/** The CPU use of everything except the sink. */
export async function cpuMeter(stack: Stack, temporalAddress: string): Promise<CpuMeter> {
	const [row] = await stack.orm.em
		.fork()
		.execute<{ pid: number }[]>(
			`select pid from pg_stat_activity where backend_type = 'checkpointer'`,
		)
	const pids = {
		worker: () => stack.worker.pid(),
		api: () => stack.api.pid(),
		postgres: () => statOf(row!.pid)!.parent,
		temporal: () => listenerOf(temporalAddress),
	}
	const now = () =>
		Object.fromEntries(
			Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid())]),
		) as Record<keyof typeof pids, number>
	let before = now()
	return {
		read() {
			const after = now()
			const used = Object.fromEntries(
				Object.entries(after).map(([name, seconds]) => [
					name,
					seconds - before[name as keyof typeof pids],
				]),
			) as typeof after
			before = after
			return { ...used, all: used.worker + used.api + used.postgres + used.temporal }
		},
	}
}

/** The Temporal server's command line contains its port. */
function listenerOf(address: string) {
	const port = address.split(':').at(-1)!
	for (const name of readdirSync('/proc')) {
		if (!/^\d+$/.test(name)) continue
		try {
			const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
			if (/temporal/.test(words[0] ?? '') && words.some((word) => word.endsWith(port)))
				return Number(name)
		} catch {
			// it has ended
		}
	}
	throw new Error(`Nobody seems to listen on ${address}`)
}

/** The peak memory of a process, in MB. */
export function peakMb(pid: number) {
	const kb = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
	return Math.round(Number(kb) / 1024)
}
