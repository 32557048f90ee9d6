/**
 * Measures this thread's CPU time from now on, in milliseconds. Unlike a clock it excludes the machine's
 * other work.
 */
export function cpuMeter() {
	const before = process.threadCpuUsage()
	return () => {
		const { user, system } = process.threadCpuUsage(before)
		return (user + system) / 1000
	}
}
