import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { poolOf } from '../../db/statement.ts'
import type { Stack } from '../stack.ts'

const gigabyte = 2 ** 30
/** More are not written: the time grows with the size. */
const mostBytes = 4 * gigabyte
const chunk = randomBytes(2 ** 24)

/** A table with nothing in it. */
export async function bareDrop({ orm }: Stack) {
	const pool = await poolOf(orm.em)
	await pool.query('create table bare_month (like emails including all)')
	const from = performance.now()
	await pool.query('drop table bare_month')
	return performance.now() - from
}

/**
 * What the file system takes to delete so many bytes, in files of a gigabyte, like those of Postgres, and on its disk.
 * On a disk that is told about each freed block, this is nearly all of a drop.
 */
export async function bareDeletion({ orm }: Stack, bytes: number) {
	const pool = await poolOf(orm.em)
	const { rows } = await pool.query<{ data_directory: string }>('show data_directory')
	const folder = await mkdtemp(join(dirname(rows[0]!.data_directory), 'bare-deletion-'))
	const written = Math.round(Math.min(bytes, mostBytes))
	const files: string[] = []
	try {
		for (let left = written; left > 0; left -= gigabyte) {
			const file = join(folder, String(files.length))
			files.push(file)
			await writeFile(file, Math.min(left, gigabyte))
		}
		const from = performance.now()
		for (const file of files) await rm(file)
		return ((performance.now() - from) * bytes) / written
	} finally {
		for (const file of files) await rm(file, { force: true })
		await rmdir(folder)
	}
}

async function writeFile(path: string, bytes: number) {
	const file = await open(path, 'w')
	try {
		for (let left = bytes; left > 0; left -= chunk.length)
			await file.write(chunk, 0, Math.min(left, chunk.length))
		await file.sync()
	} finally {
		await file.close()
	}
}
