import type { Condition } from '../../client/index.ts'
import { readCondition } from '../conditions/condition-reading.ts'
import { textParam } from '../parts/text-param.ts'

export const orders = [
	{ value: 'newest', name: 'Newest first', sort: 'createdAt', dir: 'desc' },
	{ value: 'oldest', name: 'Oldest first', sort: 'createdAt', dir: 'asc' },
	{ value: 'address', name: 'By address', sort: 'email', dir: 'asc' },
] as const
type Order = (typeof orders)[number]['value']

/** The filters of the list, as they stand in its address. */
export interface ContactFilters {
	search?: string | undefined
	subscribed?: boolean | undefined
	segment?: string | undefined
	condition?: Condition | undefined
	order?: Order | undefined
	/** The bulk job that is followed. */
	job?: string | undefined
}

const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

export const readContactFilters = (given: Record<string, unknown>): ContactFilters => ({
	search: textParam(given['search']),
	subscribed: typeof given['subscribed'] === 'boolean' ? given['subscribed'] : undefined,
	segment: idOf(given['segment']),
	condition: readCondition(given['condition']),
	order: orders.find(({ value }) => value === given['order'])?.value,
	job: idOf(given['job']),
})

const idOf = (given: unknown) => (typeof given === 'string' && uuid.test(given) ? given : undefined)

/** The filters in the words of the API, for lists and for bulk jobs. */
export const filterOf = ({ search, subscribed, segment, condition }: ContactFilters) => ({
	...(search?.trim() && { search: search.trim() }),
	...(subscribed !== undefined && { subscribed }),
	...(segment && { segmentId: segment }),
	...(condition && { condition }),
})

export const orderOf = ({ order = 'newest' }: ContactFilters) => {
	const { sort, dir } = orders.find(({ value }) => value === order) ?? orders[0]
	return { sort, dir }
}
