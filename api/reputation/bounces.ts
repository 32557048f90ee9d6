import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { bounceTypes, settleByReport } from '../../db/reputation/evidence.ts'
import { ApiError } from '../errors.ts'
import { Component, Id, Nullable } from '../schemas.ts'
import { TaskTooLarge } from '../../mail/threads/pool.ts'
import { threads } from '../threads/threads.ts'
import { type BounceReport, reportBytes } from './bounce-report.ts'

const Matched = Component('MatchedBounce', {
	emailId: Id,
	event: Type.Enum(['bounce', 'complaint', 'delivery']),
	bounceType: Nullable(Type.Enum([...bounceTypes])),
})

const limitMs = 2000
const events = { BOUNCED: 'bounce', COMPLAINED: 'complaint' } as const

/** Bounces and complaints that arrive by mail, posted by the sender's mail server. */
export const bounces: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.removeAllContentTypeParsers()
	app.addContentTypeParser('message/rfc822', { parseAs: 'buffer' }, (_request, bytes, done) =>
		done(null, bytes),
	)

	app.post(
		'/webhooks/bounce',
		{
			bodyLimit: 10 * 2 ** 20,
			config: {
				auth: 'secret key',
				// A project is suspended at its first bounces, and most of them come later.
				evenDisabled: true,
				errors: [413, 415],
				takes: 'message/rfc822',
			},
			schema: {
				tags: ['webhooks'],
				summary: 'Receive a bounce or complaint that came by mail',
				description:
					'The unchanged mail as message/rfc822: a delivery status notification (RFC 3464) or an ' +
					'abuse report (RFC 5965). `matched` is empty if it is neither, or not about a mail of ours.',
				response: { 200: Type.Object({ matched: Type.Array(Matched) }) },
			},
		},
		async ({ project, body }) => {
			// A request without a body has no content type either.
			if (!Buffer.isBuffer(body)) throw noMail()
			const report = await reportIn(body, project.id)
			if (!report) return { matched: [] }
			const reportId = `bounce/${project.id}/${createHash('sha256').update(body).digest('hex')}`
			const matched = await settle(project.id, report, reportId)
			// The report may have suspended the project.
			app.relay.wake()
			return { matched }
		},
	)

	/** A report that comes again has no effect, so it may also complete one that was cut short. */
	async function settle(projectId: string, { emailId, outcomes }: BounceReport, reportId: string) {
		const at = new Date().toISOString()
		const matched = []
		for (const [index, outcome] of outcomes.entries()) {
			const { kind, bounceType } = outcome
			const found = await settleByReport(pool, {
				reportId: index === 0 ? reportId : `${reportId}/${index}`,
				projectId,
				isOfWorst: index === 0,
				evidence: { id: emailId, ...outcome, at },
			})
			const event = events[kind as keyof typeof events] ?? 'delivery'
			matched.push(...found.map(() => ({ emailId, event, bounceType })))
		}
		return matched
	}
}

/** Anyone can send mail to a bounce address, so it is read on a thread with a time limit. */
function reportIn(mail: Buffer, projectId: string) {
	return threads
		.run('bounceReport', Uint8Array.from(mail.subarray(0, reportBytes)), {
			key: projectId,
			limitMs,
		})
		.catch((error: unknown) => {
			// A mail that takes too long is not a readable report.
			if (error instanceof TaskTooLarge) return null
			throw error
		})
}

const noMail = () =>
	new ApiError(415, 'BAD_REQUEST', 'The body must be a mail', {
		suggestion: 'Send the unchanged mail with Content-Type: message/rfc822.',
	})
