import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { meter } from '../../outside/telemetry/meter.ts'
import { findCampaign } from '../../db/campaigns/campaign-records.ts'
import { memberWith, queueTestMail, suppressionOf } from '../../db/campaigns/campaign-test-mail.ts'
import { Contact } from '../../db/contacts/contact.ts'
import { ApiError } from '../errors.ts'
import { about, Body, Email, Message, normalizeEmail, PathId } from '../schemas.ts'
import { requireSender } from '../send/sender.ts'
import { previewOf } from '../templates/template-preview.ts'
import { existing } from './campaigns.ts'

interface Options {
	pool: Pool
	publicUrl: string
	emailProvider: string
}

const maxSubjectLength = 998

/** Shows a campaign to its author before it is sent. */
export const campaignTestMail: FastifyPluginAsyncTypebox<Options> = async (
	app,
	{ pool, publicUrl, emailProvider },
) => {
	app.post(
		'/campaigns/:id/test',
		{
			config: { auth: 'secret key or session', sends: true, errors: [403, 409] },
			schema: {
				tags: ['campaigns'],
				summary: 'Send a test of a campaign to one address',
				description:
					'Rendered with the data of the contact that has the address, if there is one. Tests are not tracked or counted.',
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
		async ({ em, project, params, body }) => {
			const email = normalizeEmail(body.email)
			const campaign = existing(
				await findCampaign(pool, { projectId: project.id, campaignId: params.id }),
				params.id,
			)
			if (emailProvider !== 'local') await requireMember(project.id, email)
			await requireSender(em, project.id, campaign.from)
			await refuseSuppressed(project.id, email)
			const contact = await em.findOne(Contact, { projectId: project.id, email })
			const { data = {} } = body
			const asked = { data, ...(contact ? { contactId: contact.id } : {}) }
			const { subject, html } = await previewOf(em, project, campaign, asked, publicUrl)
			const locale = data['locale'] ?? contact?.data['locale']
			await queueTestMail(pool, {
				projectId: project.id,
				to: email,
				from: campaign.from,
				fromName: campaign.fromName ?? project.name,
				replyTo: campaign.replyTo,
				subject: `[TEST] ${subject}`.slice(0, maxSubjectLength),
				body: html,
				language: typeof locale === 'string' ? locale : project.language,
			})
			app.relay.wake()
			meter.accepted('/campaigns/:id/test', 1)
			return { message: `A test is on its way to ${email}` }
		},
	)

	async function refuseSuppressed(projectId: string, email: string) {
		const [suppressed] = await suppressionOf(pool, { projectId, email })
		if (!suppressed) return
		const { reason } = suppressed
		throw new ApiError(409, 'CONFLICT', `${email} is on the suppression list: ${reason}`, {
			details: { email, reason },
			suggestion: 'Use another address, or remove this one with DELETE /suppressions/{email}.',
		})
	}

	async function requireMember(projectId: string, email: string) {
		const [member] = await memberWith(pool, { projectId, email })
		if (member) return
		throw new ApiError(403, 'FORBIDDEN', 'Tests can be sent only to members of the project', {
			suggestion: 'Use the address of a member, or invite its owner to the project.',
		})
	}
}
