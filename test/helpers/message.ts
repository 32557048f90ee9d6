import type { Message } from '../../mail/message.ts'

let count = 0

/** An ordinary mail with an id of its own. */
export function aMessage(overrides: Partial<Message> & { recipient?: string } = {}): Message {
	const { recipient = 'ada@example.org', ...rest } = overrides
	const emailId = rest.emailId ?? `mail-${(count += 1)}`
	return {
		emailId,
		projectId: 'project-1',
		messageId: `<${emailId}@example.com>`,
		from: { email: 'hello@example.com', name: 'Hello' },
		to: { email: recipient, name: 'Ada' },
		replyTo: null,
		subject: 'Good day',
		html: '<p>Good day</p>',
		text: 'Good day\n',
		headers: {},
		attachments: [],
		date: new Date('2026-11-21T12:00:00Z'),
		...rest,
	}
}
