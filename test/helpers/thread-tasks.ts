import { serve } from '../../mail/threads/serve.ts'

export const threadTasks = {
	double: (value: number) => value * 2,
	spin(ms: number) {
		const until = performance.now() + ms
		while (performance.now() < until);
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
