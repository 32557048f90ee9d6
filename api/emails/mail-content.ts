import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { Component, PathId } from '../schemas.ts'
import { composedMail } from './composed-mail.ts'
import type { EmailRoutes } from './email-view.ts'

const tags = ['emails']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('email') })

const Parts = Component('EmailParts', {
	subject: Type.String(),
	html: Type.String({ description: 'With its layout and footer, and without tracking.' }),
	text: Type.String(),
	headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
		description: 'As they are sent. Words that are not ASCII are encoded.',
	}),
})

const untracked =
	'Composed as it was sent, or as it would be sent now, but without the tracking pixel and with the original links. A mail of a campaign is rendered with the current data of its contact.'

/** The content of a mail. */
export const mailContent: FastifyPluginAsyncTypebox<EmailRoutes> = async (app, options) => {
	app.get(
		'/emails/:id/parts',
		{
			config: { auth, errors: [409], neverKept: true },
			schema: {
				tags,
				summary: 'Get the HTML, text and headers of a mail',
				description: `${untracked} Answers 409 once its content has been deleted. Show the HTML in a sandboxed frame.`,
				params: Params,
				response: { 200: Parts },
			},
		},
		async ({ project, params }, reply) => {
			const asked = { form: 'shownParts', projectId: project.id, emailId: params.id } as const
			const parts = await composedMail(options, asked)
			// It is JSON already.
			return reply.type('application/json; charset=utf-8').send(parts as never)
		},
	)

	app.get(
		'/emails/:id/source',
		{
			config: { auth, answers: 'message/rfc822', errors: [409] },
			schema: {
				tags,
				summary: 'Get the source of a mail',
				description: `${untracked} It has no DKIM signature and no attachments.`,
				params: Params,
			},
		},
		async ({ project, params }, reply) => {
			const asked = { form: 'shownSource', projectId: project.id, emailId: params.id } as const
			const source = await composedMail(options, asked)
			return reply
				.type('message/rfc822')
				.header('content-disposition', `attachment; filename="${params.id}.eml"`)
				.send(source)
		},
	)
}
