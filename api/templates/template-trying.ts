import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { mailTypes } from '../../db/templates/template.ts'
import {
	about,
	Body,
	ContentLanguage,
	Email,
	Id,
	Line,
	Message,
	Nullable,
	PathId,
} from '../schemas.ts'
import { Sender, withSender } from '../send/sender.ts'
import { testMailer, type TestMailOptions } from '../send/test-mail.ts'
import { Preview, previewOf } from './template-preview.ts'
import { checkSyntax, foundTemplate } from './templates.ts'

const tags = ['templates']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('template') })

const person = {
	data: Type.Optional(
		Type.Record(Type.String(), Type.Unknown(), {
			description: 'Variables of the template. They override the data of the contact.',
		}),
	),
	contactId: Type.Optional(about('A contact whose data fills in what `data` leaves out.', Id)),
}

/** If `from` is left out: a preview does not show the sender. */
const anySender = 'sender@example.com'

/** Shows content to its author before anybody else gets it. */
export const templateTrying: FastifyPluginAsyncTypebox<TestMailOptions> = async (app, options) => {
	const sendTest = testMailer(app, options)

	app.post(
		'/templates/preview',
		{
			config: { auth, errors: [404] },
			schema: {
				tags,
				summary: 'Render content that is not stored',
				description:
					'For editors: the same answer as POST /templates/{id}/preview, while the template is being written. Nothing is stored.',
				body: Body(
					{ subject: 'Hello {{ name }}', body: '<p>Good to see you</p>', data: { name: 'Ann' } },
					{
						subject: about('A Liquid template.', Line({ maxLength: 998 })),
						body: Type.String({ description: 'HTML, a Liquid template' }),
						text: Type.Optional(
							about(
								'The text part, a Liquid template. Left out, it is made from the body.',
								Nullable(Type.String()),
							),
						),
						type: Type.Enum([...mailTypes], {
							default: 'MARKETING',
							description: 'MARKETING has a footer to unsubscribe.',
						}),
						from: Type.Optional(about('The sender. Its domain need not be verified.', Sender)),
						fromName: Type.Optional(
							about('The name of the sender.', Nullable(Line({ maxLength: 100 }))),
						),
						replyTo: Type.Optional(about('The address for replies.', Nullable(Email))),
						language: ContentLanguage,
						...person,
					},
				),
				response: { 200: Preview },
			},
		},
		async ({ em, project, body: given }) => {
			const body = withSender(given)
			const { subject, body: html, text = null, type, from = anySender } = body
			await checkSyntax(project.id, { subject, body: html, text })
			const { fromName = null, replyTo = null, language = null } = body
			const content = {
				subject,
				body: html,
				text: text || null,
				type,
				from,
				fromName,
				replyTo,
				language,
			}
			return previewOf(em, project, content, body, options.publicUrl)
		},
	)

	app.post(
		'/templates/:id/test',
		{
			config: { auth, sends: true, errors: [403, 409] },
			schema: {
				tags,
				summary: 'Send a test of a template to one address',
				description:
					'Rendered with the data of the named contact, or else of the contact that has the address, if there is one. Tests are not tracked. The usage of the month counts them as transactional mails.',
				params: Params,
				body: Body(
					{ to: 'me@example.com', data: { name: 'Ann' } },
					{ to: about('The address that gets the test.', Email), ...person },
				),
				response: { 200: Message },
			},
		},
		async (request) => {
			const { em, project, params, body } = request
			const content = await foundTemplate(em, project.id, params.id)
			const { to, data, contactId } = body
			return sendTest(request, { content, to, data, contactId })
		},
	)
}
