import type { WebhookDelivery } from '../../client/index.ts'

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
	/** Ids of a mail and of a contact, as far as they are typed. */
	email?: string | undefined
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
	email: textOf(given['email']),
	contact: textOf(given['contact']),
	from: dayOf(given['from']),
	to: dayOf(given['to']),
	replay: idOf(given['replay']),
})

/** Digits alone have become a number on the way. */
const textOf = (value: unknown) =>
	typeof value === 'number' ? String(value) : typeof value === 'string' ? value : undefined

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
export const idOf = (value: unknown) =>
	typeof value === 'string' && uuid.test(value.trim()) ? value.trim() : undefined

const dayOf = (value: unknown) =>
	typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined

/** The filters in the words of the API. */
export const inquiryOf = ({ status, type, email, contact, from, to }: DeliveryFilters) => ({
	status,
	type,
	emailId: idOf(email),
	contactId: idOf(contact),
	from: from && new Date(`${from}T00:00:00`).toISOString(),
	to: to && new Date(`${to}T23:59:59.999`).toISOString(),
})

export const isFiltered = (filters: DeliveryFilters) =>
	Object.values(inquiryOf(filters)).some((value) => value !== undefined)
