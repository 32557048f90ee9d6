import type { Email } from '../../client/index.ts'
import { dayParam, momentsOf } from '../parts/day-param.ts'
import { textParam } from '../parts/text-param.ts'

/** Of a mail on its way to one recipient. */
export const outgoingStatuses = [
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
] as const
export const statuses = [
	'SCHEDULED',
	...outgoingStatuses,
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
	contact: textParam(given['contact']),
	campaign: textParam(given['campaign']),
	search: textParam(given['search']),
	from: dayParam(given['from']),
	to: dayParam(given['to']),
})

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
	...momentsOf(from, to),
})
