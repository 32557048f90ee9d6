import type { Pool } from 'pg'
import { databaseOf } from '../../db/thread-database.ts'
import { copiesOf } from '../../mail/compose.ts'
import { copyAddresses, type EncodedMail } from '../../mail/encoding.ts'
import { bufferOf, ownBuffer } from '../../mail/threads/buffer-of.ts'
import { createThreads } from '../../mail/threads/pool.ts'
import type { LargeMail, LargeMailTasks } from './large-mail-tasks.ts'

/** Decoding, composing or copying more than this blocks the event loop noticeably. */
export const largeBytes = 2 ** 20

/** Each takes up to 60 MB of memory until the provider has answered, besides the memory of the threads. */
const mostUnderWay = 4
const mostOfProject = 3

const threads = createThreads<LargeMailTasks>({
	entry: new URL('./large-mail-thread.ts', import.meta.url),
	size: 2,
	// The largest mail is in memory several times: as text, laid out, and encoded.
	memoryMb: 1024,
	// Large mails are rare, and an idle thread keeps its memory.
	idleMs: 10_000,
})
/** Far above the duration of any such task, with the longest waits for the database. */
const limitMs = 90_000

export const isLarge = ({ bytes }: { bytes: number }) => bytes > largeBytes

/** The large mails that a process has under way. Only a few may be, for the memory that they take. */
export function createLargeMails() {
	const projects = new Map<string, string>()

	/** A mail that another run of this process has under way gets no second place. */
	function hasRoom(project: string, id: string) {
		if (projects.has(id)) return false
		let theirs = 0
		for (const one of projects.values()) if (one === project) theirs += 1
		return projects.size < mostUnderWay && theirs < mostOfProject
	}

	return {
		hasRoom,
		/** False: there is no room at present. */
		enter(project: string, id: string) {
			if (!hasRoom(project, id)) return false
			projects.set(id, project)
			return true
		},
		leave: (id: string) => projects.delete(id),
	}
}

export type LargeMails = ReturnType<typeof createLargeMails>

/** Loads, composes and encodes a mail on a thread. */
export async function encodeLarge(
	pool: Pool,
	mail: Omit<LargeMail, 'database'>,
): Promise<EncodedMail> {
	const { id, project_id: projectId, from, to, subject } = mail.mail
	const task = { database: databaseOf(pool), ...mail }
	const content = await threads.run('encode', task, { key: projectId, limitMs })
	const copies = copyAddresses(copiesOf(mail.mail))
	return { emailId: id, projectId, from, to, ...copies, subject, content: bufferOf(content) }
}

/** Stores a mail in the local mailbox. Its bytes are moved to a thread. */
export const storeLarge = (pool: Pool, mail: EncodedMail) =>
	threads.run(
		'store',
		{ database: databaseOf(pool), mail },
		{ key: mail.projectId, limitMs, transfer: ownBuffer(mail.content) },
	)
