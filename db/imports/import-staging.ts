import type { Pool, PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { finished } from 'node:stream/promises'
import { type JobKey } from '../jobs/jobs.ts'
import { bytes, int, json, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

export interface GoodRow {
	row: number
	email: string
	/** null: unchanged. */
	subscribed: boolean | null
	/** JSON */
	data: string
}

export interface BadRow {
	row: number
	email: string | null
	error: string
}

/**
 * The cells and rows that are applied at a time: enough for Postgres' work to dominate, and few enough that a
 * request for one of these contacts doesn't wait noticeably. Each cell is counted in the statistics of its field.
 */
const cellsAtOnce = 20_000
const rowsAtOnce = 2000

export const importFile = statement('import-file', {
	params: { projectId: uuid, jobId: uuid },
	row: { content: bytes },
	text: 'select content from import_files where project_id = $projectId and job_id = $jobId',
})

const recordBadRows = statement('record-bad-rows', {
	params: { projectId: uuid, jobId: uuid, badRows: json<BadRow[]>() },
	text: `insert into job_errors (project_id, job_id, row, email, error)
	select $projectId, $jobId, row, email, error
	from jsonb_to_recordset($badRows::jsonb) as b(row int, email text, error text)`,
})

/** The rows in the order of the file, for the duration of the transaction. */
export const createStage = `create temp table staged_rows (
	position int, row int, email text, subscribed bool, data jsonb) on commit drop`

/**
 * Groups the rows into chunks. Of rows with the same address the last stays, and earlier ones fill its
 * empty cells.
 */
const makeChunks = statement('make-import-chunks', {
	params: { projectId: uuid, jobId: uuid },
	text: `with repeated as materialized (
		select email from staged_rows group by email having count(*) > 1
	), decided as (
		select email, max(position) as latest,
			(array_agg(subscribed order by position desc) filter (where subscribed is not null))[1]
				as subscribed
		from staged_rows join repeated using (email) group by email
	), cells as (
		-- Merging whole rows would copy the result for each of them.
		select distinct on (email, key) email, key, value
		from staged_rows join repeated using (email) cross join lateral jsonb_each(data) cell
		order by email, key, position desc
	), merged as (
		select email, jsonb_object_agg(key, value) as data from cells group by email
	), settled as (
		select s.position, s.row, s.email, coalesce(d.subscribed, s.subscribed) as subscribed,
			coalesce(m.data, s.data) as data,
			s.position < d.latest is true as is_repeated
		from staged_rows s left join decided d using (email)
		left join merged m on m.email = s.email and s.position = d.latest
	), weighed as (
		select *, sum(case when is_repeated then ${cellsAtOnce / rowsAtOnce}
			else greatest((select count(*) from jsonb_object_keys(data)), ${cellsAtOnce / rowsAtOnce}) end)
			over (order by position) as cells
		from settled
	)
	insert into import_chunks (project_id, job_id, position, rows, emails, subscribed, data, repeats)
	select $projectId, $jobId, max(position),
		coalesce(array_agg(row order by position) filter (where not is_repeated), '{}'),
		coalesce(array_agg(email order by position) filter (where not is_repeated), '{}'),
		coalesce(array_agg(subscribed order by position) filter (where not is_repeated), '{}'),
		coalesce(array_agg(data order by position) filter (where not is_repeated), '{}'),
		count(*) filter (where is_repeated)
	from weighed group by div(cells - 1, ${cellsAtOnce})`,
})

const recordStaged = statement('record-staged', {
	params: { projectId: uuid, jobId: uuid, rows: int, badRows: int },
	row: { id: uuid },
	text: `update jobs set total = $rows::int, failed_count = $badRows::int
	where project_id = $projectId and id = $jobId and total is null returning id`,
})

/**
 * Stages all rows of a file or none: a file that turns out unreadable at its end leaves nothing. The rows
 * are collected in a temporary table. The chunks made from them are logged as usual: after a crash of
 * Postgres an unlogged table would be empty, and the import would take that for its end.
 */
export async function stageRows(
	pool: Pool,
	{ projectId, jobId }: JobKey,
	batches: AsyncIterable<(GoodRow | BadRow)[]>,
) {
	await transaction(pool, async (db) => {
		await db.query(createStage)
		let position = 0
		let badRows = 0
		// While Postgres takes a batch, the next one is read.
		let taken: Promise<unknown> = Promise.resolve()
		try {
			for await (const batch of batches) {
				const lines: string[] = []
				const bad: BadRow[] = []
				for (const row of batch)
					if ('error' in row) bad.push(row)
					else lines.push(`${++position}\t${textOf(row)}\n`)
				badRows += bad.length
				await taken
				taken = setDown(db, lines, bad)
				taken.catch(() => {}) // the error is thrown above or below
			}
		} finally {
			await taken
		}
		await makeChunks(db, { projectId, jobId })
		const [recorded] = await recordStaged(db, {
			projectId,
			jobId,
			rows: position + badRows,
			badRows,
		})
		// Another try was faster, and its rows may be applied by now. Storing these would apply them again.
		if (!recorded) throw new Error('This file was staged meanwhile')
	})

	async function setDown(db: PoolClient, lines: string[], bad: BadRow[]) {
		if (lines.length > 0) await copy(db, lines.join(''))
		if (bad.length > 0) await recordBadRows(db, { projectId, jobId, badRows: bad })
	}
}

/**
 * Escapes for COPY. JSON contains no raw line breaks or tabs, so only its backslashes need escaping. There may be
 * thousands, and `replaceAll` takes seven times as long.
 */
const textOf = ({ row, email, subscribed, data }: GoodRow) =>
	`${row}\t${email}\t${subscribed ?? '\\N'}\t${data.split('\\').join('\\\\')}`

async function copy(db: PoolClient, text: string) {
	const stream = db.query(copyFrom('copy staged_rows from stdin'))
	stream.end(text)
	await finished(stream)
}

/**
 * Deletes the data that only the import needed, including chunks of a cancelled import. Its errors and
 * undo data stay as long as it can be undone.
 */
export const clearImport = statement('clear-import', {
	params: { projectId: uuid, jobId: uuid },
	text: `with file as (
		delete from import_files where project_id = $projectId and job_id = $jobId
	), outdated as (
		delete from import_changes where project_id = $projectId
			and changed_at < now() - interval '8 days'
	)
	delete from import_chunks where project_id = $projectId and job_id = $jobId`,
})
