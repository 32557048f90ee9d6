import Type from 'typebox'
import { campaignStatuses } from '../../db/campaigns/campaign.ts'
import { type CampaignRecord, findCampaign } from '../../db/campaigns/campaign-records.ts'
import { ChangedCampaign } from '../campaigns/campaign-content.ts'
import { existing } from '../campaigns/campaigns.ts'
import { ApiError } from '../errors.ts'
import { about, Email, Id, PageNumber } from '../schemas.ts'
import { previewOf } from '../templates/template-preview.ts'
import type { Campaign, Page } from './answers.ts'
import { hasStarted, reachOf } from './audience.ts'
import { briefData, briefText, counted, only } from './brief.ts'
import { condition } from './condition-input.ts'
import { contactOf } from './people.ts'
import { type AskRoute, path } from './route-calls.ts'
import { adding, defineTool, destroying, mailing, reading } from './tool.ts'

export const campaignId = about('The campaign. list_campaigns finds it.', Id)

export const outline = (campaign: Campaign) => ({
	...only(campaign, 'id', 'name', 'status', 'type', 'from', 'audienceType', 'segmentId'),
	subject: briefText(campaign.subject),
	...only(campaign, 'totalRecipients', 'sentCount', 'scheduledFor', 'sentAt'),
	...only(campaign, 'pausedAt', 'pausedReason', 'cancelledReason', 'createdAt', 'updatedAt'),
})

export const listCampaigns = defineTool({
	name: 'list_campaigns',
	title: 'List campaigns',
	description:
		'Lists campaigns, newest first, with their status and how many mails they have sent. Use it to find the id of a campaign. Bodies are left out: preview_campaign shows them, and read_figures has opens and clicks.',
	annotations: reading,
	input: {
		search: Type.Optional(
			Type.String({ maxLength: 200, description: 'A part of the name, subject or sender.' }),
		),
		status: Type.Optional(
			about('Only campaigns with this status.', Type.Enum([...campaignStatuses])),
		),
		page: Type.Optional(PageNumber),
	},
	async run(query, { ask }) {
		const found = await ask<Page<Campaign>>('GET', '/campaigns', {
			query: { ...query, pageSize: 20 },
		})
		const { page, total, totalPages } = found
		return {
			text: `${counted(total, 'campaign')} found.`,
			data: { campaigns: found.data.map(outline), page, total, totalPages },
		}
	},
})

const { audienceCondition: _, ...members } = ChangedCampaign.properties

export const draftCampaign = defineTool({
	name: 'draft_campaign',
	title: 'Draft a campaign',
	description:
		'Creates a campaign as a draft, or changes a draft if campaignId is given. Nothing is sent. A new one needs name, audienceType, and subject, body and from, unless a template supplies these. Subject and body are Liquid: {{ name }} is a field of the contact. Then use preview_campaign, send_test_mail, and send_campaign.',
	annotations: adding,
	input: {
		campaignId: Type.Optional(about('The campaign to change. Leave it out to create one.', Id)),
		...members,
		audienceCondition: Type.Optional(condition('Required when audienceType is FILTERED.')),
	},
	async run({ campaignId, ...body }, { ask }) {
		const campaign =
			campaignId === undefined
				? (await ask<{ data: Campaign }>('POST', '/campaigns', { body })).data
				: await changed(campaignId, body, ask)
		return {
			text: `The draft is saved. It would reach ${counted(campaign.totalRecipients, 'contact')} now.`,
			data: { campaign: outline(campaign) },
		}
	},
})

/** A change of a scheduled campaign would be sent without a preview. */
async function changed(id: string, body: object, ask: AskRoute) {
	const campaign = await ask<Campaign>('GET', path`/campaigns/${id}`)
	if (campaign.status === 'SCHEDULED')
		throw new ApiError(409, 'CONFLICT', 'This campaign is scheduled, so it can’t be changed here', {
			details: { status: campaign.status },
			suggestion: 'Cancel it with control_campaign, and draft a new one.',
		})
	const unchangedSince = campaign.updatedAt
	return ask<Campaign>('PUT', path`/campaigns/${id}`, { body, unchangedSince })
}

export const previewCampaign = defineTool({
	name: 'preview_campaign',
	title: 'Preview a campaign',
	description:
		'Shows a campaign as one contact would get it: subject, text and HTML, the variables that have no value, and how many contacts the campaign reaches now, or had at its start; null if counting takes too long. Without a contact, an example person is used. Nothing is sent.',
	annotations: reading,
	input: {
		campaignId,
		address: Type.Optional(about('Render it for the contact with this address.', Email)),
		withHtml: Type.Optional(Type.Boolean({ description: 'Include the HTML. False by default.' })),
	},
	async run({ campaignId, address, withHtml = false }, context) {
		const { ask, em, pool, project, publicUrl } = context
		const key = { projectId: project.id, campaignId }
		const campaign = existing(await findCampaign(pool, key), campaignId)
		const contact = address === undefined ? null : await contactOf(context, { address })
		const [rendered, recipients] = await Promise.all([
			previewOf(em, project, campaign, contact ? { contactId: contact.id } : {}, publicUrl),
			hasStarted(campaign) ? campaign.totalRecipients : reachOf(campaign, ask),
		])
		const { subject, text, html, unset } = rendered
		const { from, fromName, replyTo, type, status, audienceType } = campaign
		return {
			text: reachText(campaign, recipients),
			data: {
				subject: briefText(subject),
				text: briefText(text, 8000),
				...(withHtml && { html: briefText(html, 20_000) }),
				unset: unset.slice(0, 50),
				sender: { from, fromName, replyTo },
				type,
				status,
				audience: {
					audienceType,
					segmentId: campaign.segmentId,
					condition: briefData(campaign.audienceCondition),
					recipients,
				},
			},
		}
	},
})

function reachText(campaign: CampaignRecord, recipients: number | null) {
	const is = `This campaign is ${campaign.status}`
	if (recipients === null) return `${is}. Counting the contacts that it reaches takes too long.`
	const contacts = counted(recipients, 'contact')
	return hasStarted(campaign)
		? `${is} and had ${contacts} as recipients when it was last counted.`
		: `${is} and reaches ${contacts} now.`
}

export const sendTestMail = defineTool({
	name: 'send_test_mail',
	title: 'Send a test of a campaign',
	description:
		'Sends a campaign as a test to one address, with [TEST] before the subject. It is not counted or tracked. Unless this installation keeps all mail in its local mailbox, the address must belong to a member of the project.',
	annotations: { ...mailing, destructiveHint: false },
	input: { campaignId, address: about('The address that gets the test.', Email) },
	async run({ campaignId, address }, { ask }) {
		const data = await ask<object>('POST', path`/campaigns/${campaignId}/test`, {
			body: { email: address },
		})
		return { text: 'The test is on its way.', data }
	},
})

export const controlCampaign = defineTool({
	name: 'control_campaign',
	title: 'Pause, resume or cancel a campaign',
	description:
		'pause: after at most two seconds no more mails are sent. resume: a paused campaign goes on. cancel: mails that have not left are never sent, and this can’t be undone. Mails that have left stay sent.',
	annotations: destroying,
	input: {
		campaignId,
		action: about('The change to make.', Type.Enum(['pause', 'resume', 'cancel'])),
	},
	async run({ campaignId, action }, { ask }) {
		const campaign = await ask<Campaign>('POST', path`/campaigns/${campaignId}/${action}`)
		const state = campaign.pausedAt ? `${campaign.status} and paused` : campaign.status
		return { text: `The campaign is ${state}.`, data: { campaign: outline(campaign) } }
	},
})
