import type { Document } from './document.ts'
import { comment, typeOf } from './types.ts'

/** The union of the document's webhooks. Each narrows by its `type`. */
export function webhookTypes({ webhooks = {} }: Document) {
	const events = Object.entries(webhooks).map(([name, operations]) => {
		const { summary, description, requestBody } = Object.values(operations)[0]!
		const schema = Object.values(requestBody!.content)[0]!.schema
		return `${comment(summary ?? name, description)}| ${typeOf(schema)}\n`
	})
	const union =
		events.length > 0 ? events.join('') : '{ type: string; timestamp: string; data: unknown }'
	return `/** What a webhook endpoint receives, distinguished by \`type\`. */\nexport type WebhookEvent =\n${union}\n\n`
}
