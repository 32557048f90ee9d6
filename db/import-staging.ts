import type { Pool, PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { finished } from 'node:stream/promises'
import { type JobKey, transaction } from './jobs.ts'
import { statement } from './statement.ts'

export interface GoodRow {
	row: number
	email: string
	/** null: as it is. */
	subscribed: boolean | null
	/** JSON */
	data: string
}

export interface BadRow {
	row: number
	email: string | null
	error: string
}

const rowsPerCopy = 10_000

/** $1 project, $2 job */
export const importFile = statement<{ content: Buffer }>(
	'import-file',
	'select content from import_files where project_id = $1 and job_id = $2',
)

const noteBadRows = statement(
	'note-bad-rows',
	`insert into job_errors (project_id, job_id, row, email, error)
	select $1, $2, row, email, error
	from jsonb_to_recordset($3::jsonb) as b(row int, email text, error text)`,
)

/** Of rows with one address the last stays, with what the earlier say where it says nothing. */
const settleRepeats = statement(
	'settle-repeated-rows',
	`with repeated as materialized (
		select email from import_rows where project_id = $1 and job_id = $2
		group by email having count(*) > 1
	), merged as (
		select email, max(position) as latest, jsonb_merge(data order by position) as data,
			(array_agg(subscribed order by position desc) filter (where subscribed is not null))[1]
				as subscribed
		from import_rows join repeated using (email)
		where project_id = $1 and job_id = $2 group by email
	)
	update import_rows r set superseded = r.position < m.latest, subscribed = m.subscribed,
		data = case when r.position = m.latest then m.data else '{}' end
	from merged m where r.project_id = $1 and r.job_id = $2 and r.email = m.email`,
)

/** $1 project, $2 job, $3 all rows, $4 bad ones */
const noteStaged = statement(
	'note-staged',
	`update jobs set total = $3::int, failed_count = $4::int
	where project_id = $1 and id = $2 and total is null`,
)

/**
 * Sets the rows of a file down, all or none of them: a file that turns out to be unreadable at its end
 * leaves nothing. The table is logged like any other, for an unlogged one would be empty after a crash
 * of Postgres, and an import that went on would take that for its end.
 */
export async function stageRows(
	pool: Pool,
	{ projectId, jobId }: JobKey,
	rows: AsyncIterable<GoodRow | BadRow>,
) {
	await transaction(pool, async (db) => {
		let position = 0
		let badRows = 0
		let lines: string[] = []
		let bad: BadRow[] = []
		async function flush() {
			if (lines.length > 0) await copy(db, lines.join(''))
			if (bad.length > 0) await noteBadRows(db, [projectId, jobId, JSON.stringify(bad)])
			badRows += bad.length
			lines = []
			bad = []
		}
		const key = `${projectId}\t${jobId}\t`
		for await (const row of rows) {
			if ('error' in row) bad.push(row)
			else lines.push(`${key}${++position}\t${textOf(row)}\n`)
			if (lines.length + bad.length === rowsPerCopy) await flush()
		}
		await flush()
		await settleRepeats(db, [projectId, jobId])
		await noteStaged(db, [projectId, jobId, position + badRows, badRows])
	})
}

/** COPY's own escapes: JSON has no raw line breaks or tabs, so its backslashes are all there is. */
const textOf = ({ row, email, subscribed, data }: GoodRow) =>
	`${row}\t${email}\t${subscribed ?? '\\N'}\t${data.replaceAll('\\', '\\\\')}`

async function copy(db: PoolClient, text: string) {
	const stream = db.query(
		copyFrom(
			'copy import_rows (project_id, job_id, position, row, email, subscribed, data) from stdin',
		),
	)
	stream.end(text)
	await finished(stream)
}

/** What only the import itself needed. What it could not read stays, and what undoes it. $1 project, $2 job */
export const clearImport = statement(
	'clear-import',
	`with file as (
		delete from import_files where project_id = $1 and job_id = $2
	), outdated as (
		delete from import_changes where project_id = $1 and changed_at < now() - interval '8 days'
	)
	delete from import_rows where project_id = $1 and job_id = $2`,
)
