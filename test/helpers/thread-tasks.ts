import { serve } from '../../mail/threads/serve.ts'
import { cpuMeter } from './cpu.ts'

const kept: number[][] = []
const megabyte = () => Array.from({ length: 131_072 }, Math.random)

export const threadTasks = {
	/** Memory that the thread keeps. */
	keep(megabytes: number) {
		for (let i = 0; i < megabytes; i++) kept.push(megabyte())
		return kept.length
	},
	/** Memory that the task needs while it runs. */
	need(megabytes: number) {
		const needed = Array.from({ length: megabytes }, megabyte)
		return needed.length
	},
	double: (value: number) => value * 2,
	spin(ms: number) {
		const spent = cpuMeter()
		while (spent() < ms);
		return ms
	},
	hoard() {
		const all: number[][] = []
		for (;;) all.push(Array.from({ length: 100_000 }, Math.random))
	},
	refuse(reason: string) {
		throw new RangeError(reason)
	},
	bytes: (length: number) => ({ raw: new Uint8Array(length).fill(7) }),
}

serve(threadTasks)
