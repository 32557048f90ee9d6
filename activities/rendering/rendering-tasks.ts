import { type CampaignMailSource, renderCampaignMail } from './campaign-mail.ts'
import {
	type CampaignContent,
	type CampaignMessages,
	type CampaignRecipient,
	compileCampaign,
} from './campaign-message.ts'
import { composeMessage, type Mail } from './compose.ts'
import { type DkimKey, signed } from './dkim.ts'
import { compile, render, unsetIn } from './liquid.ts'
import type { Variables } from './look-up.ts'
import { renderContent } from './mail-content.ts'
import type { Message } from './message.ts'
import { buildMime } from './mime.ts'
import { renderDeep } from './plain.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { type AskedTemplate, problemsIn } from './template-problems.ts'
import type { Tracking } from './tracked-urls.ts'

// Whatever takes as long as customers' texts make it take. Each of these runs on the event loop when it
// is brief, and on a thread otherwise: see rendering.ts.

interface Texts {
	subject: string
	body: string
	variables: Variables
}

interface CampaignMailTask {
	content: CampaignContent
	publicUrl: string
	recipient: CampaignRecipient
}

export const renderingTasks = {
	/** What is wrong with the templates of a request. */
	problems: (asked: AskedTemplate[]) => asked.flatMap(problemsIn),

	content({ subject, body, variables }: Texts) {
		const before = process.threadCpuUsage()
		const content = renderContent(compile(subject, 'subject'), compile(body, 'body'), variables)
		const { user, system } = process.threadCpuUsage(before)
		return { content, ms: (user + system) / 1000 }
	},

	/** Every string in a value of JSON. */
	deep: ({ value, variables }: { value: unknown; variables: Variables }) =>
		renderDeep(value, variables),

	/** With what the texts ask for and would not get. */
	preview({ subject, body, variables }: Texts) {
		const [head, html] = [compile(subject, 'subject'), compile(body, 'body')]
		return {
			subject: render(head, variables).text,
			body: render(html, variables).text,
			unset: [...new Set([...unsetIn(head, variables), ...unsetIn(html, variables)])],
		}
	},

	/** Without its attachments: they would only travel there and back. */
	compose(input: { mail: Mail; publicUrl: string; tracking: Tracking | null }) {
		return composeMessage(input.mail, [], input.publicUrl, input.tracking)
	},

	/** A mail as it goes over the wire, signed where there is a key. Rejects when the key cannot sign. */
	mime({ message, dkim }: { message: Message; dkim?: DkimKey | undefined }) {
		const attachments = message.attachments.map((file) => ({
			...file,
			content: bufferOf(file.content),
		}))
		const raw = buildMime({ ...message, attachments })
		return dkim ? signed(raw, dkim) : raw
	},

	campaignMail: ({ source, publicUrl }: { source: CampaignMailSource; publicUrl: string }) =>
		renderCampaignMail(source, publicUrl),

	campaignMessage: (task: CampaignMailTask) => messagesOf(task).message(task.recipient),
	campaignWire: (task: CampaignMailTask) => messagesOf(task).wire(task.recipient),
}

export type RenderingTasks = typeof renderingTasks

const mostCompiled = 20
const compiled = new Map<string, { content: CampaignContent; messages: CampaignMessages }>()

/** A campaign's content is frozen while it is sent, so its id says what it is. */
function messagesOf({ content, publicUrl }: CampaignMailTask) {
	const { campaignId } = content
	const known = compiled.get(campaignId)
	compiled.delete(campaignId)
	const entry = known ?? { content, messages: compileCampaign(content, publicUrl) }
	compiled.set(campaignId, entry)
	if (compiled.size > mostCompiled) compiled.delete(compiled.keys().next().value!)
	return entry.messages
}
