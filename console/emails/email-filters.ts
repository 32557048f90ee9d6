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
}

export const readFilters = ({
	status,
	source,
	contact,
	campaign,
}: Record<string, unknown>): EmailFilters => ({
	status: statuses.find((one) => one === status),
	source: sources.find(({ value }) => value === source)?.value,
	contact: typeof contact === 'string' ? contact : undefined,
	campaign: typeof campaign === 'string' ? campaign : undefined,
})
