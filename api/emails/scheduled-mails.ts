import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { Email as EmailRow } from '../../db/emails/email.ts'
import { cancelScheduled, reschedule } from '../../db/emails/scheduling.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { about, Body, PathId } from '../schemas.ts'
import { moveProblems } from '../send/send-delivery.ts'
import { Email, type EmailRoutes, wholeOf } from './email-view.ts'

const tags = ['emails']
const Params = Type.Object({ id: PathId('email') })
const NewDelivery = Type.Object(
	{
		at: about(
			'The new time, with a time zone, at most 30 days ahead and at most 60 days after the mail was accepted. A time in the past means now.',
			Type.String({ format: 'date-time' }),
		),
	},
	{ additionalProperties: false, description: 'When the mail is sent instead.' },
)

/** Changes of mails that wait for their time. */
export const scheduledMails: FastifyPluginAsyncTypebox<EmailRoutes> = async (app, options) => {
	app.patch(
		'/emails/:id',
		{
			config: { auth: 'secret key or session', errors: [409] },
			schema: {
				tags,
				summary: 'Move a scheduled mail to another time',
				description:
					'Only a mail that is SCHEDULED can be moved. Either it is moved, or it is sent at its old time and the answer is 409.',
				params: Params,
				body: Body({ delivery: { at: '2030-01-31T09:00:00Z' } }, { delivery: NewDelivery }),
				response: { 200: Email },
			},
		},
		async ({ em, project, params, body: { delivery } }) => {
			const where = { projectId: project.id, id: params.id }
			const email = await em.findOneOrFail(EmailRow, where)
			const problems = moveProblems(delivery.at, email.createdAt)
			if (problems.length > 0) throw invalid(...problems)
			const which = { projectId: project.id, emailId: params.id }
			const [moved] = await reschedule(options.pool, { ...which, at: delivery.at })
			await em.refresh(email)
			if (!moved) throw notScheduled(email)
			return wholeOf(options, email)
		},
	)

	app.post(
		'/emails/:id/cancel',
		{
			config: { auth: 'secret key or session', errors: [409] },
			schema: {
				tags,
				summary: 'Cancel a scheduled mail',
				description:
					'Only a mail that is SCHEDULED can be cancelled. Either it is cancelled, or it is sent and the answer is 409.',
				params: Params,
				response: { 200: Email },
			},
		},
		async ({ em, project, params }) => {
			const which = { projectId: project.id, emailId: params.id }
			const [cancelled] = await cancelScheduled(options.pool, which)
			const email = await em.findOne(EmailRow, { projectId: project.id, id: params.id })
			if (!email) throw notFound('email', params.id)
			if (!cancelled) throw notScheduled(email)
			return wholeOf(options, email)
		},
	)
}

const notScheduled = ({ status }: EmailRow) =>
	new ApiError(409, 'CONFLICT', `This mail is ${status}, not SCHEDULED`, {
		details: { status },
		suggestion: 'Only a mail that waits for its time can be moved or cancelled.',
	})
