/** The types of webhooks. Tracked events have types of their own: `event.` and the event's name. */
export const webhookTypes = [
	'email.scheduled',
	'email.sent',
	'email.delivered',
	'email.delayed',
	'email.opened',
	'email.clicked',
	'email.bounced',
	'email.complained',
	'email.failed',
	'email.suppressed',
	'email.cancelled',
	'email.uncertain',
	'email.received',
	'contact.created',
	'contact.updated',
	'contact.deleted',
	'contact.subscribed',
	'contact.unsubscribed',
	'segment.entered',
	'segment.left',
	'campaign.started',
	'campaign.paused',
	'campaign.completed',
	'campaign.cancelled',
	'execution.started',
	'execution.completed',
	'execution.failed',
	'execution.cancelled',
	'domain.verified',
	'domain.failed',
	'project.suspended',
] as const
export type WebhookType = (typeof webhookTypes)[number]

export const eventPrefix = 'event.'

/** All types that begin alike, such as `contact.*`. */
export const webhookFamilies = [
	...new Set([...webhookTypes, eventPrefix].map((type) => `${type.split('.')[0]}.*`)),
]
