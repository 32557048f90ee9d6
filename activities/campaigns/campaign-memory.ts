type Memory = ReturnType<typeof createMemory>
export type MemoryShare = ReturnType<Memory['share']>

/** Limits the memory of the composed mails that wait for the provider's answer. One mail always fits. */
export function createMemory(mostBytes: number) {
	const waiting: { bytes: number; go: () => void }[] = []
	let used = 0

	const hasRoom = (bytes: number) => used === 0 || used + bytes <= mostBytes

	function serve() {
		for (let next = waiting[0]; next && hasRoom(next.bytes); next = waiting[0]) {
			waiting.shift()
			used += next.bytes
			next.go()
		}
	}

	return {
		/** The share of one mail. */
		share() {
			let held = 0
			return {
				/** Gives up what it has for this much. Returns a promise if there is no room yet. */
				ask(bytes: number): Promise<void> | undefined {
					this.keep(0)
					if (waiting.length === 0 && hasRoom(bytes)) {
						this.keep(bytes)
						return undefined
					}
					return new Promise<void>((resolve) => {
						waiting.push({
							bytes,
							go() {
								held = bytes
								resolve()
							},
						})
					})
				},
				/** The mail turned out to have this size. */
				keep(bytes: number) {
					used += bytes - held
					held = bytes
					serve()
				},
			}
		},
	}
}
