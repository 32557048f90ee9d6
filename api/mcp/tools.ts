import { sendCampaign } from './campaign-send-tool.ts'
import {
	controlCampaign,
	draftCampaign,
	listCampaigns,
	previewCampaign,
	sendTestMail,
} from './campaign-tools.ts'
import {
	checkSuppressions,
	contactTimeline,
	findContact,
	trackEvent,
	upsertContact,
} from './contact-tools.ts'
import { deleteContacts } from './delete-tool.ts'
import { explainMail, searchMails } from './mail-tools.ts'
import { checkDomain, listDomains, listTemplates, readFigures } from './project-tools.ts'
import { changeScheduledMail } from './scheduled-mail-tool.ts'
import { listSegments, previewSegment } from './segment-tools.ts'
import { sendMail } from './send-tool.ts'
import { explainExecution, listWorkflows } from './workflow-tools.ts'

/** All tools, in the order in which a model reads them. */
export const tools = [
	sendMail,
	explainMail,
	searchMails,
	changeScheduledMail,
	findContact,
	contactTimeline,
	upsertContact,
	trackEvent,
	checkSuppressions,
	deleteContacts,
	listSegments,
	previewSegment,
	listTemplates,
	listCampaigns,
	draftCampaign,
	previewCampaign,
	sendTestMail,
	sendCampaign,
	controlCampaign,
	readFigures,
	listDomains,
	checkDomain,
	listWorkflows,
	explainExecution,
]
