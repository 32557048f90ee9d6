import type { Pool, PoolClient } from 'pg'
import { readOrScan } from '../../db/timed-reading.ts'
import { type ApiError, tooMuchToRead } from '../errors.ts'

const mostMs = 5000

const readOrRefuse =
	(refusal: () => ApiError) =>
	async <T>(pool: Pool, projectId: string, read: (db: PoolClient) => Promise<T>): Promise<T> => {
		const found = await readOrScan(pool, projectId, mostMs, read)
		if (found === null) throw refusal()
		return found
	}

/** Reads counts of events by name. Anyone with a public key can give each event a new name. */
export const readEventCounts = readOrRefuse(() =>
	tooMuchToRead(
		'The events of this project have too many names to count them',
		'Ask for a shorter period or for one event, or delete events that you don’t need.',
	),
)

/** Reads events of one contact, which may have as many names. */
export const readEventsOfContact = readOrRefuse(() =>
	tooMuchToRead(
		'This contact has too many events to find the latest',
		'Delete events that you don’t need, or ask again in a moment.',
	),
)
