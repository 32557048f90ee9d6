import type { Pool } from 'pg'
import { jobErrors } from '../../db/jobs/jobs.ts'

const rowsAtOnce = 5000

/** All rows that an import could not read, in pages, so that any number of them fits into memory. */
export async function* errorsAsCsv(pool: Pool, projectId: string, jobId: string) {
	yield 'row,email,error\n'
	for (let after = 0; ;) {
		const errors = await jobErrors(pool, { projectId, jobId, after, limit: rowsAtOnce })
		if (errors.length > 0)
			yield errors.map(({ row, email, error }) => `${row},${cell(email)},${cell(error)}\n`).join('')
		if (errors.length < rowsAtOnce) return
		after = errors.at(-1)!.row
	}
}

/** Quoted, and made harmless for spreadsheets, which read some texts as formulas. */
function cell(text: string | null) {
	if (text === null) return ''
	const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
	return /[",\r\n\t']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
