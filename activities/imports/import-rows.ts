import { createThreads, TaskTooLarge } from '../../mail/threads/pool.ts'
import type { BadRow, GoodRow } from '../../db/imports/import-staging.ts'
import type { ImportTasks } from './import-thread.ts'
import { type Bookmark, FileFault } from './import-slice.ts'

const threads = createThreads<ImportTasks>({
	entry: new URL('./import-thread.ts', import.meta.url),
})
/** A slice takes a few milliseconds; one whose single cell fills the file takes less than a second. */
const limitMs = 20_000

/** The rows of a CSV file in order, a few at a time. A thread reads them. */
export async function* readRows(
	projectId: string,
	content: Buffer,
): AsyncGenerator<(GoodRow | BadRow)[]> {
	// Shared with the thread, so that it is not copied for each slice.
	const file = new Uint8Array(new SharedArrayBuffer(content.length))
	file.set(content)
	let next: Bookmark = { at: 0, row: 0, header: null }
	do {
		const slice = await threads
			.run('readSlice', { file, ...next }, { key: projectId, limitMs })
			.catch(orFault)
		yield slice.rows
		next = { at: slice.at, row: slice.row, header: slice.header }
	} while (next.at < content.length)
}

function orFault(error: unknown): never {
	if (error instanceof TaskTooLarge) throw new FileFault('The file takes too long to read')
	throw error
}
