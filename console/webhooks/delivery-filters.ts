import type { WebhookDelivery } from '../../client/index.ts'
import { dayParam, momentsOf } from '../parts/day-param.ts'
import { textParam } from '../parts/text-param.ts'

export const statuses = [
	'PENDING',
	'DELIVERED',
	'FAILED',
	'HELD',
] as const satisfies WebhookDelivery['status'][]

/** The filters of an endpoint's deliveries, as they stand in its address. */
export interface DeliveryFilters {
	status?: WebhookDelivery['status'] | undefined
	type?: string | undefined
	/** The id of a mail, as far as it is typed. */
	email?: string | undefined
	/** The address or the id of a contact, as far as it is typed. */
	contact?: string | undefined
	/** Days in the reader's zone. */
	from?: string | undefined
	to?: string | undefined
	/** The replay that is shown. */
	replay?: string | undefined
}

export const readFilters = (given: Record<string, unknown>): DeliveryFilters => ({
	status: statuses.find((one) => one === given['status']),
	type: typeof given['type'] === 'string' ? given['type'] : undefined,
	email: textParam(given['email']),
	contact: textParam(given['contact']),
	from: dayParam(given['from']),
	to: dayParam(given['to']),
	replay: idOf(given['replay']),
})

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
export const idOf = (value: unknown) =>
	typeof value === 'string' && uuid.test(value.trim()) ? value.trim() : undefined

/** The filters in the words of the API. */
export const inquiryOf = (
	{ status, type, email, from, to }: DeliveryFilters,
	contactId: string | undefined,
) => ({
	status,
	type,
	emailId: idOf(email),
	contactId,
	...momentsOf(from, to),
})
