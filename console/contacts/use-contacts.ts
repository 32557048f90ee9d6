import { useQuery } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { type ContactFilters, filterOf, orderOf } from './contact-filters.ts'

/** The list, and apart from it their number: counting those that meet a condition may take seconds. */
export function useContacts(filters: ContactFilters) {
	const { project, api } = useProject()
	const filter = filterOf(filters)
	const inquiry = { ...filter, ...orderOf(filters) }
	const isConditional = Boolean(filter.condition ?? filter.segmentId)
	const { list, total } = useCursorList({
		key: [project.id, 'contacts', 'list', inquiry],
		load: (cursor) =>
			api.contacts.query({
				...inquiry,
				...(cursor && { cursor }),
				limit: 50,
				count: !isConditional,
			}),
		...(!isConditional && { liveMs: liveMs.slow }),
	})
	const counted = useQuery({
		queryKey: [project.id, 'contacts', 'count', filter],
		queryFn: ({ signal }) => api.contacts.query({ ...filter, limit: 1 }, { signal }),
		enabled: isConditional,
		staleTime: 30_000,
	})
	const { data } = counted
	return {
		list,
		/** Undefined: not counted, because that takes too long, or not yet. */
		total: isConditional ? (data?.isCounted ? data.total : undefined) : total,
		isCounting: isConditional ? counted.isPending : total === undefined,
	}
}
