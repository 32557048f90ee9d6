/**
 * How long this thread computes from now on, in milliseconds. Unlike a clock it does not count what the
 * machine did for others in the meantime.
 */
export function cpuMeter() {
	const before = process.threadCpuUsage()
	return () => {
		const { user, system } = process.threadCpuUsage(before)
		return (user + system) / 1000
	}
}
