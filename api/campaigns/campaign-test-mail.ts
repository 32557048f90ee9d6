import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { findCampaign } from '../../db/campaigns/campaign-records.ts'
import { about, Body, Email, Message, PathId } from '../schemas.ts'
import { testMailer, type TestMailOptions } from '../send/test-mail.ts'
import { existing } from './campaigns.ts'

/** Shows a campaign to its author before it is sent. */
export const campaignTestMail: FastifyPluginAsyncTypebox<TestMailOptions> = async (
	app,
	options,
) => {
	const sendTest = testMailer(app, options)

	app.post(
		'/campaigns/:id/test',
		{
			config: { auth: 'secret key or session', sends: true, errors: [403, 409] },
			schema: {
				tags: ['campaigns'],
				summary: 'Send a test of a campaign to one address',
				description:
					'Rendered with the data of the contact that has the address, if there is one. Tests are not tracked, and no figure of the campaign counts them. The usage of the month counts them as transactional mails.',
				params: Type.Object({ id: PathId('campaign') }),
				body: Body(
					{ email: 'me@example.com', data: { name: 'Ann' } },
					{
						email: about('The address that gets the test.', Email),
						data: Type.Optional(
							Type.Record(Type.String(), Type.Unknown(), {
								description: 'Variables of the templates. They override the data of the contact.',
							}),
						),
					},
				),
				response: { 200: Message },
			},
		},
		async (request) => {
			const { project, params, body } = request
			const content = existing(
				await findCampaign(options.pool, { projectId: project.id, campaignId: params.id }),
				params.id,
			)
			return sendTest(request, { content, to: body.email, data: body.data })
		},
	)
}
