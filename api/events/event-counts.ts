import type { Pool, PoolClient } from 'pg'
import { readOrScan } from '../../db/timed-reading.ts'
import { tooMuchToRead } from '../errors.ts'

const mostMs = 5000

/** Reads counts of events by name. Anyone with a public key can give each event a new name. */
export async function readEventCounts<T>(
	pool: Pool,
	projectId: string,
	read: (db: PoolClient) => Promise<T>,
): Promise<T> {
	const counts = await readOrScan(pool, projectId, mostMs, read)
	if (!counts) throw tooManyNames()
	return counts
}

const tooManyNames = () =>
	tooMuchToRead(
		'The events of this project have too many names to count them',
		'Ask for a shorter period, or delete events that you don’t need.',
	)
