import type { Pool, PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { finished } from 'node:stream/promises'
import { type JobKey } from '../jobs/jobs.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

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

/**
 * So many rows are applied at a time: enough for the work to be Postgres' own, few enough that a request
 * for one of these contacts does not wait noticeably.
 */
const rowsAtOnce = 2000

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

/** The rows as they come, for as long as the transaction lasts. */
const createStage = `create temp table staged_rows (
	position int, row int, email text, subscribed bool, data jsonb) on commit drop`

/**
 * Makes chunks of the rows. Of those with one address the last stays, with what the earlier say where
 * it says nothing. $1 project, $2 job
 */
const makeChunks = statement(
	'make-import-chunks',
	`with repeated as materialized (
		select email from staged_rows group by email having count(*) > 1
	), merged as (
		select email, max(position) as latest, jsonb_merge(data order by position) as data,
			(array_agg(subscribed order by position desc) filter (where subscribed is not null))[1]
				as subscribed
		from staged_rows join repeated using (email) group by email
	), settled as (
		select s.position, s.row, s.email, coalesce(m.subscribed, s.subscribed) as subscribed,
			coalesce(m.data, s.data) as data, s.position < m.latest is true as is_repeated
		from staged_rows s left join merged m using (email)
	)
	insert into import_chunks (project_id, job_id, position, rows, emails, subscribed, data, repeats)
	select $1, $2, max(position),
		coalesce(array_agg(row order by position) filter (where not is_repeated), '{}'),
		coalesce(array_agg(email order by position) filter (where not is_repeated), '{}'),
		coalesce(array_agg(subscribed order by position) filter (where not is_repeated), '{}'),
		coalesce(array_agg(data order by position) filter (where not is_repeated), '{}'),
		count(*) filter (where is_repeated)
	from settled group by (position - 1) / ${rowsAtOnce}`,
)

/** $1 project, $2 job, $3 all rows, $4 bad ones */
const noteStaged = statement<{ id: string }>(
	'note-staged',
	`update jobs set total = $3::int, failed_count = $4::int
	where project_id = $1 and id = $2 and total is null returning id`,
)

/**
 * Sets the rows of a file down, all or none of them: a file that turns out to be unreadable at its end
 * leaves nothing. They are collected in a temporary table; what the import goes by from then on is
 * logged like anything else, for an unlogged table would be empty after a crash of Postgres, and an
 * import that went on would take that for its end.
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
				taken.catch(() => {}) // it is thrown above or below
			}
		} finally {
			await taken
		}
		await makeChunks(db, [projectId, jobId])
		const [noted] = await noteStaged(db, [projectId, jobId, position + badRows, badRows])
		// Another try was faster, and its rows may be applied by now: these would be applied again.
		if (!noted) throw new Error('This file was staged meanwhile')
	})

	async function setDown(db: PoolClient, lines: string[], bad: BadRow[]) {
		if (lines.length > 0) await copy(db, lines.join(''))
		if (bad.length > 0) await noteBadRows(db, [projectId, jobId, JSON.stringify(bad)])
	}
}

/** COPY's own escapes: JSON has no raw line breaks or tabs, so its backslashes are all there is. */
const textOf = ({ row, email, subscribed, data }: GoodRow) =>
	`${row}\t${email}\t${subscribed ?? '\\N'}\t${data.replaceAll('\\', '\\\\')}`

async function copy(db: PoolClient, text: string) {
	const stream = db.query(copyFrom('copy staged_rows from stdin'))
	stream.end(text)
	await finished(stream)
}

/**
 * What only the import itself needed, and whatever of a cancelled one was not applied. What could not be
 * read stays, and what undoes it, for as long as it can be undone. $1 project, $2 job
 */
export const clearImport = statement(
	'clear-import',
	`with file as (
		delete from import_files where project_id = $1 and job_id = $2
	), outdated as (
		delete from import_changes where project_id = $1 and changed_at < now() - interval '8 days'
	)
	delete from import_chunks where project_id = $1 and job_id = $2`,
)
