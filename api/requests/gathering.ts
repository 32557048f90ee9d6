import { takeTurn } from '../../db/event-loop.ts'

const copiedAtOnce = 2 ** 20

/** Like Buffer.concat, but with pauses for other work: 40 MB at once block the event loop for 40 ms. */
export async function gathered(chunks: Buffer[]) {
	const bytes = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0))
	let written = 0
	for (const chunk of chunks)
		for (let at = 0; at < chunk.length; at += copiedAtOnce) {
			await takeTurn()
			written += chunk.copy(bytes, written, at, at + copiedAtOnce)
		}
	return bytes
}
