import type { Campaign, CampaignRecipient } from '../../client/index.ts'
import { outgoingStatuses } from '../emails/email-filters.ts'
import { textParam } from '../parts/text-param.ts'

export const statuses = [
	'DRAFT',
	'SCHEDULED',
	'SENDING',
	'SENT',
	'CANCELLED',
] as const satisfies Campaign['status'][]

/** The filters of the list, as they are in its address. */
export interface CampaignFilters {
	search?: string | undefined
	status?: Campaign['status'] | undefined
}

export const readFilters = ({ search, status }: Record<string, unknown>): CampaignFilters => ({
	search: textParam(search),
	status: statuses.find((one) => one === status),
})

export const tabs = ['figures', 'recipients', 'mail'] as const
export const intervals = ['minute', 'hour', 'day'] as const
export const recipientStatuses = outgoingStatuses satisfies readonly CampaignRecipient['status'][]

/** The part of a campaign that is shown. */
export interface CampaignView {
	tab?: (typeof tabs)[number] | undefined
	interval?: (typeof intervals)[number] | undefined
	/** Of recipients. */
	status?: CampaignRecipient['status'] | undefined
}

export const readView = ({ tab, interval, status }: Record<string, unknown>): CampaignView => ({
	tab: tabs.find((one) => one === tab),
	interval: intervals.find((one) => one === interval),
	status: recipientStatuses.find((one) => one === status),
})
