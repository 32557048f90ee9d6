import { type ChildProcess, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopPostgres } from '../../local/cluster.ts'
import { anyPort, onFreePort } from '../../local/ports.ts'
import { preparePostgres } from '../../local/postgres.ts'
import { end, isAlive, kill } from '../../local/processes.ts'
import { prepareTemporal, stopTemporal } from '../../local/temporal.ts'
import { family } from '../cpu.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { ProcessName } from './fault-plan.ts'
import type { DrillProvider } from './fault-provider.ts'

/** A process that may be harmed. */
export interface Victim {
	/** Its ids, including its children. */
	pids(): number[]
	start(): Promise<void>
	stop(): Promise<void>
	kill(): Promise<void>
}

/** Servers and processes of our own, all of which may be harmed. */
export interface World {
	stack: Stack
	provider: DrillProvider
	databaseUrl: string
	victims: Record<ProcessName, Victim>
	/** Postgres' data folder, if it is a disk of its own that may be filled. */
	disk: string | null
	/** How far the clocks of API and worker are ahead of the machine's. */
	setClock(aheadMs: number): void
	close(): Promise<void>
}

/** Doubt is shown to last, without waiting ten minutes. */
const shortDoubt = { UNCERTAIN_AFTER: '3s' }
export const trackingSecret = 'a secret of the drill, known to it'
/** Postgres may keep 2 GB of its log before it makes room. */
const diskMb = 3072

export async function openWorld(provider: DrillProvider, withDisk: boolean): Promise<World> {
	const folder = await mkdtemp(join(tmpdir(), 'tempost-drill-'))
	await chmod(folder, 0o711) // Postgres' own user passes through it when we are root
	const clock = join(folder, 'clock')
	writeFileSync(clock, '0')
	const disk = withDisk ? await mountDisk(join(folder, 'disk')) : null
	const servers: Victim[] = []
	// Stopping the drill stops its servers, which are in process groups of their own.
	const killAll = () => {
		for (const pid of servers.flatMap((one) => one.pids())) kill(pid, 'SIGKILL')
		if (disk) spawnSync('umount', ['--lazy', disk])
	}
	process.once('exit', killAll)
	const close = async () => {
		process.off('exit', killAll)
		await Promise.all(servers.map((one) => one.stop()))
		await provider.close()
		if (disk) spawnSync('umount', ['--lazy', disk])
		await rm(folder, { recursive: true, force: true })
	}
	try {
		const postgres = await startPostgres(join(disk ?? folder, 'postgres'))
		servers.push(postgres)
		const temporal = await startTemporal(join(folder, 'temporal'))
		servers.push(temporal)
		const addresses = { databaseUrl: postgres.url, temporalAddress: temporal.address }
		const stack = await prepareStack(addresses, {
			...provider.env,
			...shortDoubt,
			SESSION_SECRET: trackingSecret,
			CLOCK_FILE: clock,
			NODE_OPTIONS: `--import=${join(import.meta.dirname, 'clock.mjs')}`,
		})
		// An established project: for a new one this many bounces would cause a suspension.
		await stack.orm.em.fork().execute(`update projects set created_at = now() - interval '60 days'`)
		const service = (one: Stack['api']): Victim => ({
			pids: () => [one.pid()],
			start: one.start,
			stop: () => one.stop(),
			kill: () => one.stop('SIGKILL'),
		})
		const victims = {
			api: service(stack.api),
			worker: service(stack.worker),
			temporal,
			postgres,
		}
		return {
			stack,
			provider,
			databaseUrl: stack.databaseUrl,
			victims,
			disk,
			setClock: (aheadMs) => writeFileSync(clock, String(aheadMs)),
			async close() {
				await stack.stop()
				await close()
			},
		}
	} catch (error) {
		await close()
		throw error
	}
}

const startPostgres = (folder: string) =>
	onFreePort(async () => {
		const port = await anyPort()
		const options = { folder, password: 'password', isDurable: true, port }
		const victim = server(async () => {
			// A killed server leaves a lock behind, which the preparation removes.
			const postgres = await preparePostgres(options)
			const child = postgres.launch()
			await postgres.ready(child)
			return child
		}, stopPostgres)
		await victim.start()
		const url = `postgresql://postgres:${options.password}@127.0.0.1:${port}/postgres`
		return { url, ...victim }
	})

const startTemporal = (file: string) =>
	onFreePort(async () => {
		const temporal = await prepareTemporal({ file, namespace: 'default', isDurable: false })
		const victim = server(async () => {
			const child = temporal.launch()
			await temporal.ready(child)
			return child
		}, stopTemporal)
		await victim.start()
		return { address: temporal.address, ...victim }
	})

/** A server may have ended by itself. Starting it again is harmless if it is running. */
function server(launch: () => Promise<ChildProcess>, steps: typeof stopPostgres): Victim {
	let child: ChildProcess | undefined
	const isRunning = () => child !== undefined && isAlive(child.pid!)
	return {
		pids: () => (isRunning() ? family(child!.pid!) : []),
		async start() {
			if (!isRunning()) child = await launch()
		},
		async stop() {
			if (isRunning()) await end(child!.pid!, steps)
		},
		async kill() {
			for (const pid of isRunning() ? family(child!.pid!) : []) kill(pid, 'SIGKILL')
			if (child) await end(child.pid!, [['SIGKILL', 5000]])
		},
	}
}

/**
 * A small in-memory disk for Postgres' data, if there is enough memory and mounting is allowed (for root
 * on Linux, but not in most containers).
 */
async function mountDisk(folder: string) {
	if (freemem() < 2 * diskMb * 2 ** 20) return null
	await mkdir(folder)
	const options = `size=${diskMb}m,mode=711`
	const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
	return status === 0 ? folder : null
}
