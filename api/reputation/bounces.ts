import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { bounceTypes, settleByReport } from '../../db/reputation/evidence.ts'
import { ApiError } from '../errors.ts'
import { Component, Id, Nullable } from '../schemas.ts'
import { TaskTooLarge } from '../../mail/threads/pool.ts'
import { threads } from '../threads/threads.ts'
import { reportBytes } from './bounce-report.ts'

const Matched = Component('MatchedBounce', {
	emailId: Id,
	event: Type.Enum(['bounce', 'complaint', 'delivery']),
	bounceType: Nullable(Type.Enum([...bounceTypes])),
})

const limitMs = 2000
const events = { BOUNCED: 'bounce', COMPLAINED: 'complaint' } as const

/** Bounces and complaints that come by mail, from whatever receives them for the sender. */
export const bounces: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.removeAllContentTypeParsers()
	app.addContentTypeParser('message/rfc822', { parseAs: 'buffer' }, (_request, bytes, done) =>
		done(null, bytes),
	)

	app.post(
		'/webhooks/bounce',
		{
			bodyLimit: 10 * 2 ** 20,
			config: { auth: 'secret key', errors: [413, 415], takes: 'message/rfc822' },
			schema: {
				tags: ['webhooks'],
				summary: 'Take a bounce or complaint that came by mail',
				description:
					'The mail as it came, as message/rfc822: a delivery status notification (RFC 3464) or an ' +
					'abuse report (RFC 5965). `matched` is empty if it is neither, or not about a mail of ours.',
				response: { 200: Type.Object({ matched: Type.Array(Matched) }) },
			},
		},
		async ({ project, body }) => {
			// Whoever sends no body names no type either.
			if (!Buffer.isBuffer(body)) throw noMail()
			const report = await reportIn(body, project.id)
			if (!report) return { matched: [] }
			const { emailId, kind, bounceType, error } = report
			const evidence = { id: emailId, kind, bounceType, error, at: new Date().toISOString() }
			const reportId = `bounce/${project.id}/${createHash('sha256').update(body).digest('hex')}`
			const found = await settleByReport(pool, [reportId, project.id, JSON.stringify([evidence])])
			// It may have suspended the project.
			app.relay.wake()
			const event = events[kind as keyof typeof events] ?? 'delivery'
			return { matched: found.map(() => ({ emailId, event, bounceType })) }
		},
	)
}

/** Anybody can mail to a bounce address: their mails are read on a thread, and not for long. */
function reportIn(mail: Buffer, projectId: string) {
	return threads
		.run('bounceReport', Uint8Array.from(mail.subarray(0, reportBytes)), {
			key: projectId,
			limitMs,
		})
		.catch((error: unknown) => {
			// It is no report that anybody could read.
			if (error instanceof TaskTooLarge) return null
			throw error
		})
}

const noMail = () =>
	new ApiError(415, 'BAD_REQUEST', 'The body must be a mail', {
		suggestion: 'Send the mail as it came, with Content-Type: message/rfc822.',
	})
