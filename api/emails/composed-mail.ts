import type { Pool } from 'pg'
import { campaignMails } from '../../db/campaigns/campaign-mail.ts'
import { wholeMail } from '../../db/emails/composed-mail.ts'
import type { RowOf } from '../../db/sql-types.ts'
import { type Database, databaseOf, withDatabase } from '../../db/thread-database.ts'
import { completed } from '../../mail/campaign/completed-mail.ts'
import { mailOf } from '../../mail/ledger-mail.ts'
import { perform } from '../../mail/rendering.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { ApiError, notFound } from '../errors.ts'
import { threads } from '../threads/threads.ts'
import type { EmailRoutes } from './email-view.ts'

interface Asked {
	form: 'shownParts' | 'shownSource'
	projectId: string
	emailId: string
}

/** The longest body and text part that are read on the event loop, together. */
const mostBytes = 2 ** 20
const limitMs = 60_000

/**
 * A mail as it was composed, or would be now. A thread reads and composes a long one, which the event loop only passes
 * on.
 */
export async function composedMail({ pool, publicUrl }: EmailRoutes, asked: Asked) {
	const { projectId, emailId } = asked
	const [mail] = await wholeMail(pool, { projectId, emailId, mostBytes })
	if (!mail) throw notFound('email', emailId)
	if (mail.source_type === 'INBOUND') throw received()
	const task = { ...asked, publicUrl, database: databaseOf(pool) }
	const bytes = mail.is_long
		? await threads.run('composeMail', task, { key: projectId, limitMs })
		: await composedOf(pool, mail, task)
	if (!bytes) throw contentGone()
	return bufferOf(bytes)
}

interface LongMail extends Asked {
	database: Database
	publicUrl: string
}

/** The thread's part of `composedMail`. */
export const composeMail = ({ database, ...asked }: LongMail) =>
	withDatabase(database, async (pool) => {
		const [mail] = await wholeMail(pool, { ...asked, mostBytes: 2 ** 31 - 1 })
		return mail && composedOf(pool, mail, asked)
	})

/** Undefined: its content has been deleted. */
async function composedOf(
	pool: Pool,
	mail: RowOf<typeof wholeMail>,
	{ form, projectId, emailId, publicUrl }: Asked & { publicUrl: string },
) {
	const [source] =
		mail.body === null ? await campaignMails(pool, { projectId, emailIds: [emailId] }) : []
	if (mail.body === null && !source) return undefined
	const own = { ...mail, body: mail.body ?? '' }
	const whole = source ? await completed({ ...own, to: source.email }, source, publicUrl) : own
	return perform(projectId, form, { mail: mailOf(whole), publicUrl })
}

const received = () =>
	new ApiError(409, 'CONFLICT', 'This mail was received, and its provider keeps its content', {
		suggestion: 'Read it where your provider stores incoming mail.',
	})

export const contentGone = () =>
	new ApiError(409, 'CONFLICT', 'The content of this mail has been deleted', {
		suggestion:
			'Contents are deleted after BODY_RETENTION_DAYS, with the campaign they belong to, and when a person is erased.',
	})
