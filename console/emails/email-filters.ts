import type { Email } from '../../client/index.ts'

export const statuses = [
	'SCHEDULED',
	'PENDING',
	'SENDING',
	'UNCERTAIN',
	'SENT',
	'DELIVERED',
	'OPENED',
	'CLICKED',
	'BOUNCED',
	'COMPLAINED',
	'FAILED',
	'SUPPRESSED',
	'CANCELLED',
	'RECEIVED',
] as const satisfies Email['status'][]

export const sources = [
	{ value: 'TRANSACTIONAL', name: 'Transactional' },
	{ value: 'CAMPAIGN', name: 'Campaigns' },
	{ value: 'WORKFLOW', name: 'Workflows' },
	{ value: 'INBOUND', name: 'Received' },
] as const satisfies { value: Email['sourceType']; name: string }[]

/** The filters of the list, as they stand in its address. */
export interface EmailFilters {
	status?: Email['status'] | undefined
	source?: Email['sourceType'] | undefined
	contact?: string | undefined
	campaign?: string | undefined
	search?: string | undefined
	/** Days in the reader's zone. */
	from?: string | undefined
	to?: string | undefined
}

export const readFilters = (given: Record<string, unknown>): EmailFilters => ({
	status: statuses.find((one) => one === given['status']),
	source: sources.find(({ value }) => value === given['source'])?.value,
	contact: textOf(given['contact']),
	campaign: textOf(given['campaign']),
	search: textOf(given['search']),
	from: dayOf(given['from']),
	to: dayOf(given['to']),
})

/** Digits alone have become a number on the way. */
const textOf = (value: unknown) =>
	typeof value === 'number' ? String(value) : typeof value === 'string' ? value : undefined

const dayOf = (value: unknown) =>
	typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined

/** The filters in the words of the API. */
export const inquiryOf = ({
	status,
	source,
	contact,
	campaign,
	search,
	from,
	to,
}: EmailFilters) => ({
	status,
	sourceType: source,
	contactId: contact,
	campaignId: campaign,
	search,
	from: from && new Date(`${from}T00:00:00`).toISOString(),
	to: to && new Date(`${to}T23:59:59.999`).toISOString(),
})
