import type { WebhookEvent } from '../../client/index.ts'

type Documented = Exclude<WebhookEvent['type'], `event.${string}`>

/** Every type of the API but those of tracked events, in the words of its documentation. */
const documented: Record<Documented, string> = {
	'email.scheduled': 'Accepted for a later time, or moved to another one',
	'email.sent': 'The provider accepted the mail',
	'email.delivered': 'The recipient’s server accepted the mail',
	'email.delayed': 'Deferred for the first time; it is tried again',
	'email.opened': 'A reader opened the mail',
	'email.clicked': 'A reader clicked a link of the mail',
	'email.bounced': 'The mail bounced',
	'email.complained': 'The reader reported the mail as spam',
	'email.failed': 'The mail could not be sent',
	'email.suppressed': 'Not sent: the address is on the suppression list',
	'email.cancelled': 'Not sent, for another reason',
	'email.uncertain': 'It is not known whether the mail was sent',
	'email.received': 'A mail arrived for a domain of the project',
	'contact.created': 'A contact was created',
	'contact.updated': 'The address, the subscription or the data changed',
	'contact.deleted': 'A contact was deleted',
	'contact.subscribed': 'A contact subscribed',
	'contact.unsubscribed': 'A contact unsubscribed',
	'segment.entered': 'A contact became a member of a tracked segment',
	'segment.left': 'A contact is no longer a member of a tracked segment',
	'campaign.started': 'A campaign started',
	'campaign.paused': 'A campaign was paused',
	'campaign.completed': 'All mails of a campaign are settled',
	'campaign.cancelled': 'A campaign was cancelled',
	'execution.started': 'A contact entered a workflow',
	'execution.completed': 'An execution reached its end or an exit step',
	'execution.failed': 'An execution failed',
	'execution.cancelled': 'An execution was cancelled',
	'domain.verified': 'Mail can be sent from the domain',
	'domain.failed': 'A domain lost its verified status',
	'project.suspended': 'The project was disabled: it sends nothing',
}

const familyNames: Record<string, string> = {
	email: 'Emails',
	contact: 'Contacts',
	segment: 'Segments',
	campaign: 'Campaigns',
	execution: 'Workflow executions',
	domain: 'Domains',
	project: 'The project',
}

export const allEvents = '*'
export const trackedPrefix = 'event.'
export const allTracked = 'event.*'

export const eventTypes = Object.entries(documented).map(([type, about]) => ({ type, about }))

/** All types that begin alike, with the wildcard for them. */
export const families = Object.entries(familyNames).map(([family, name]) => ({
	name,
	wildcard: `${family}.*`,
	types: eventTypes.filter(({ type }) => type.startsWith(`${family}.`)),
}))

/** The names of tracked events among the types of an endpoint. */
export const trackedNames = (events: string[]) =>
	events
		.filter((type) => type.startsWith(trackedPrefix) && type !== allTracked)
		.map((type) => type.slice(trackedPrefix.length))

export const eventsInWords = (events: string[]) =>
	events.includes(allEvents) ? 'All events' : events.join(', ')
