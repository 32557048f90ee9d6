import type { Pool } from 'pg'
import { deleteProjectRow, deleteRows, isBuried, tablesOfProjects } from '../db/project-removal.ts'
import { beating } from './beating.ts'

const rowsAtOnce = 2000
/** A page ends after so long, so that the run says how far it is. */
const pageMs = 20_000

export interface RemovedRows {
	removed: number
	isLast: boolean
}

export function projectActivities({ pool }: { pool: Pool }) {
	return {
		/** Takes rows of a buried project away, in small bites; the last page takes its own row. */
		removeProjectRows: (projectId: string): Promise<RemovedRows> =>
			beating(() => removePage(pool, projectId, Date.now() + pageMs)),
	}
}

async function removePage(pool: Pool, projectId: string, endsAt: number): Promise<RemovedRows> {
	const [project] = await isBuried(pool, [projectId])
	if (!project) return { removed: 0, isLast: true }
	if (!project.buried) throw new Error('A project that somebody can reach keeps its rows')
	const tables = await tablesOfProjects(pool)
	let removed = 0
	for (;;) {
		const before = removed
		for (const table of tables)
			for (;;) {
				const count = await deleteRows(pool, table, projectId, rowsAtOnce)
				removed += count
				if (Date.now() > endsAt) return { removed, isLast: false }
				if (count < rowsAtOnce) break
			}
		// Rows of a table may leave notes in another; and workers may have been at work until now.
		if (removed === before) break
	}
	await deleteProjectRow(pool, [projectId])
	return { removed, isLast: true }
}
