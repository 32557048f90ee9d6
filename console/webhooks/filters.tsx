import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { WebhookEndpoint } from '../../client/index.ts'
import { inWords } from '../parts/badge.tsx'
import { DayFilter, Filter } from '../parts/filter.tsx'
import { Row, Soft } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { type DeliveryFilters, idOf, statuses } from './delivery-filters.ts'
import styles from './filters.module.css'
import { eventTypes, trackedNames, trackedPrefix } from './event-types.ts'

const route = getRouteApi('/console/$projectId/webhooks/$endpointId')

interface Props {
	endpoint: WebhookEndpoint
	/** Why no contact is found. */
	contactFault: string | undefined
}

export function Filters({ endpoint, contactFault }: Props) {
	const filters = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: DeliveryFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const setEmail = useCallback((text: string) => set({ email: text || undefined }), [set])
	const setContact = useCallback((text: string) => set({ contact: text || undefined }), [set])
	return (
		<Row>
			<Filter
				name="Status"
				all="Any status"
				value={filters.status}
				options={statuses.map((value) => ({ value, name: inWords(value) }))}
				onChange={(value) => set({ status: statuses.find((one) => one === value) })}
			/>
			<Filter
				name="Event"
				all="Any event"
				value={filters.type}
				options={typesOf(endpoint, filters.type)}
				onChange={(type) => set({ type })}
			/>
			<DayFilter name="Since" value={filters.from} onChange={(from) => set({ from })} />
			<DayFilter name="Until" value={filters.to} onChange={(to) => set({ to })} />
			<div className={styles.id}>
				<SearchBox name="Id of an email" value={filters.email ?? ''} onChange={setEmail} />
			</div>
			<div className={styles.id}>
				<SearchBox
					name="Address or id of a contact"
					value={filters.contact ?? ''}
					onChange={setContact}
				/>
			</div>
			{contactFault && <Soft>{contactFault}</Soft>}
			{filters.email && !idOf(filters.email) && (
				<Soft>An id looks like 0199b2a4-6d3e-7c51-9a0e-3f6f5b1c7d20.</Soft>
			)}
		</Row>
	)
}

/** The names of tracked events are known only from the endpoint and the address. */
function typesOf({ events }: WebhookEndpoint, chosen: string | undefined) {
	const all = new Set([
		...eventTypes.map(({ type }) => type),
		...trackedNames(events).map((name) => trackedPrefix + name),
		...(chosen === undefined ? [] : [chosen]),
	])
	return [...all].map((type) => ({ value: type, name: type }))
}
