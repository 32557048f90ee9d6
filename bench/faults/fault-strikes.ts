import { rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { kill } from '../../local/processes.ts'
import type { Blow, MachineFault, Plan, ProcessName, Strike } from './fault-plan.ts'
import type { Victim, World } from './fault-world.ts'

/** The real times of a fault of ours: faults take longer on a busy machine. */
export interface Harm {
	fault: string
	from: number
	/** Infinity while it lasts. */
	until: number
}

const hourMs = 3_600_000

/** Carries out the plan, and resolves when everything works again. */
export async function harm(world: World, plan: Plan, harms: Harm[], log: (line: string) => void) {
	const startedAt = Date.now()
	await Promise.all([
		inTurn(plan.machine, (fault, forMs) => strike(world, fault, forMs)),
		inTurn(plan.provider, (fault, forMs) => world.provider.strike(fault, forMs)),
	])

	async function inTurn<Fault extends string>(
		strikes: Strike<Fault>[],
		act: (fault: Fault, forMs: number) => Promise<void>,
	) {
		for (const { atMs, forMs, fault } of strikes) {
			await sleep(Math.max(0, startedAt + atMs - Date.now()))
			const entry: Harm = { fault, from: Date.now(), until: Infinity }
			harms.push(entry)
			log(`${((entry.from - startedAt) / 1000).toFixed(1)} s: ${fault} for ${forMs} ms`)
			await act(fault, forMs)
			entry.until = Date.now()
		}
	}
}

async function strike(world: World, fault: MachineFault, forMs: number) {
	const { victims } = world
	if (fault === 'disk full') return fillDisk(world, forMs)
	if (fault === 'clock ahead' || fault === 'clock behind') {
		world.setClock(fault === 'clock ahead' ? hourMs : -hourMs)
		await sleep(forMs)
		return world.setClock(0)
	}
	if (fault === 'a session of postgres killed') {
		// When a session is killed, Postgres restarts all others, too.
		const [postmaster, ...others] = victims.postgres.pids()
		kill(others.at(-1) ?? postmaster!, 'SIGKILL')
		return sleep(forMs)
	}
	const [name, blow] = fault.split(' ') as [ProcessName, Blow]
	await hit(victims[name], blow, forMs)
}

async function hit(victim: Victim, blow: Blow, forMs: number) {
	if (blow === 'killed' || blow === 'restarted') {
		await (blow === 'killed' ? victim.kill() : victim.stop())
		await sleep(forMs)
		return victim.start()
	}
	const stopped = blow === 'stopped'
	for (const endsAt = Date.now() + forMs; Date.now() < endsAt;) {
		const pids = victim.pids()
		for (const pid of pids) kill(pid, 'SIGSTOP')
		await sleep(stopped ? forMs : 60)
		for (const pid of pids) kill(pid, 'SIGCONT')
		// Slowed down: it gets a fifth of the time.
		await sleep(15)
	}
}

async function fillDisk({ disk, victims }: World, forMs: number) {
	const ballast = join(disk!, 'ballast')
	const file = await open(ballast, 'w')
	const block = Buffer.alloc(2 ** 20)
	try {
		while ((await file.write(block)).bytesWritten === block.length);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
	}
	await file.close()
	await sleep(forMs)
	writeFileSync(ballast, '')
	rmSync(ballast)
	// Without room for its log Postgres stops, and is restarted after room is made.
	await victims.postgres.start()
}
