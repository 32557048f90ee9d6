import { useInfiniteQuery } from '@tanstack/react-query'
import type { Contact } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import type { Moment } from '../parts/timeline.tsx'
import { useProject } from '../shell/projects.ts'
import { useIsDeleting } from '../parts/deletion.ts'
import { History } from './history.tsx'

/** Every event of one person with its data. */
export function EventsOf({ contact }: { contact: Contact }) {
	const { project, api } = useProject()
	const isDeleting = useIsDeleting(contact.id)
	const query = useInfiniteQuery({
		queryKey: [project.id, 'events', 'contact', contact.id],
		queryFn: ({ pageParam }) =>
			api.events.listOfContact(contact.id, { limit: 50, ...(pageParam && { cursor: pageParam }) }),
		initialPageParam: '',
		getNextPageParam: ({ cursor }) => cursor,
		refetchInterval: ({ state }) =>
			!isDeleting && state.data?.pages.length === 1 ? liveMs.normal : false,
	})
	const moments = query.data?.pages
		.flatMap(({ events }) => events)
		.map(({ name, data, createdAt }): Moment => {
			const text = JSON.stringify(data)
			return { at: createdAt, title: name, ...(text !== '{}' && { detail: <code>{text}</code> }) }
		})
	return (
		<History
			moments={moments}
			none="No event yet. Your application tracks them with POST /v1/track."
			error={query.error}
			retry={() => void query.refetch()}
			more={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
			isLoadingMore={query.isFetchingNextPage}
		/>
	)
}
