// Tries `npm start` as people do, including mistakes. Too slow for `npm test`; .ci/run runs it.
import { rmSync } from 'node:fs'
import { endAll, removeMovedData } from './instance.ts'
import { folders, trials } from './trials.ts'

const wanted = process.argv.slice(2)
let [passed, failed] = [0, 0]
process.once('SIGTERM', () => process.exit(1))
process.once('exit', () => {
	endAll()
	removeMovedData()
	for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const [name, trial] of Object.entries(trials)) {
	if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue
	const began = Date.now()
	try {
		await trial()
		passed++
		console.log(`ok - ${name} (${Math.round((Date.now() - began) / 1000)} s)`)
	} catch (error) {
		failed++
		console.log(`not ok - ${name}\n${(error as Error).stack}`)
		endAll()
	}
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
