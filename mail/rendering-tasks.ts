import { type CampaignMailSource, renderCampaignMail } from './campaign/campaign-mail.ts'
import {
	type CampaignContent,
	type CampaignMessages,
	type CampaignRecipient,
	compileCampaign,
} from './campaign/campaign-message.ts'
import { composeMessage, type Mail } from './compose.ts'
import { type DkimKey, signed } from './mime/dkim.ts'
import { compile, render, unsetIn } from './liquid/liquid.ts'
import type { Variables } from './liquid/look-up.ts'
import { type ContentSource, renderContent } from './mail-content.ts'
import type { Message } from './message.ts'
import { messageSize } from './message-size.ts'
import { buildMime } from './mime/mime.ts'
import { renderDeep, renderTextPart } from './liquid/plain.ts'
import { shownParts, shownSource } from './shown-mail.ts'
import { bufferOf } from './threads/buffer-of.ts'
import { type AskedTemplate, problemsIn } from './liquid/template-problems.ts'
import type { Tracking } from './tracked-urls.ts'

// Tasks whose duration depends on customers' texts. Short ones run on the event loop, others on a thread:
// see rendering.ts.

interface Texts {
	subject: string
	body: string
	/** Null: composing makes it from the body. */
	text: string | null
	variables: Variables
}

interface CampaignMailTask {
	content: CampaignContent
	publicUrl: string
	recipient: CampaignRecipient
}

export const renderingTasks = {
	/** The faults in a request's templates. */
	problems: (asked: AskedTemplate[]) => asked.flatMap(problemsIn),

	content({ variables, ...source }: ContentSource & { variables: Variables }) {
		const { result, ms } = timed(() => renderContent(source, variables))
		return { content: result, ms }
	},

	/** Renders every string in a JSON value. */
	deep: ({ value, variables }: { value: unknown; variables: Variables }) =>
		renderDeep(value, variables),

	/** Also returns the variables that have no value. */
	preview({ subject, body, text, variables }: Texts) {
		const [head, html] = [compile(subject, 'subject'), compile(body, 'body')]
		const compiled = [head, html, ...(text === null ? [] : [compile(text, 'subject')])]
		return {
			subject: render(head, variables).text,
			body: render(html, variables).text,
			text: text === null ? null : renderTextPart(text, variables).text,
			unset: [...new Set(compiled.flatMap((each) => unsetIn(each, variables)))],
		}
	},

	/** Without attachments, which would only travel to the thread and back. */
	compose(input: { mail: Mail; publicUrl: string; tracking: Tracking | null }) {
		return composeMessage(input.mail, [], input.publicUrl, input.tracking)
	},

	shownParts,
	shownSource,

	/** A mail in its wire format, signed if there is a key. Rejects when the key can't sign. */
	mime({ message, dkim }: { message: Message; dkim?: DkimKey | undefined }) {
		const attachments = message.attachments.map((file) => ({
			...file,
			content: bufferOf(file.content),
		}))
		const raw = buildMime({ ...message, attachments })
		return dkim ? signed(raw, dkim) : raw
	},

	/** Of a mail in its wire format. */
	sign: ({ raw, dkim }: { raw: Uint8Array; dkim: DkimKey }) => signed(bufferOf(raw), dkim),

	messageSize,

	campaignMail: ({ source, publicUrl }: { source: CampaignMailSource; publicUrl: string }) =>
		timed(() => renderCampaignMail(source, publicUrl)),

	campaignMessage: (task: CampaignMailTask) => messagesOf(task).message(task.recipient),
	campaignWire: (task: CampaignMailTask) => messagesOf(task).wire(task.recipient),
}

/** Processor time: neither a wait for a thread nor a busy machine counts. */
function timed<Result>(work: () => Result) {
	const before = process.threadCpuUsage()
	const result = work()
	const { user, system } = process.threadCpuUsage(before)
	return { result, ms: (user + system) / 1000 }
}

export type RenderingTasks = typeof renderingTasks

const mostCompiled = 20
/** Of all compiled campaigns. The one in use may have more. */
const mostBytes = 32 * 2 ** 20
const compiled = new Map<string, { content: CampaignContent; messages: CampaignMessages }>()

/** A campaign's content is frozen while it is sent, so its id identifies the content. */
function messagesOf({ content, publicUrl }: CampaignMailTask) {
	const { campaignId } = content
	const known = compiled.get(campaignId)
	compiled.delete(campaignId)
	const entry = known ?? { content, messages: compileCampaign(content, publicUrl) }
	compiled.set(campaignId, entry)
	let bytes = 0
	for (const { messages } of compiled.values()) bytes += messages.bytes()
	for (const [oldest, { messages }] of compiled) {
		if (oldest === campaignId || (compiled.size <= mostCompiled && bytes <= mostBytes)) break
		bytes -= messages.bytes()
		compiled.delete(oldest)
	}
	return entry.messages
}
