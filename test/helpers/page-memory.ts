import type { Page } from 'playwright-core'

/** Whether a text is anywhere in the memory of a page: its elements, its variables, its caches. */
export async function isInMemory(page: Page, text: string) {
	const devtools = await page.context().newCDPSession(page)
	let isFound = false
	let rest = ''
	devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
		isFound ||= (rest + chunk).includes(text)
		rest = chunk.slice(-text.length)
	})
	await devtools.send('HeapProfiler.collectGarbage')
	await devtools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
	await devtools.detach()
	return isFound
}
