import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { liveMs } from '../client.ts'
import { useProject } from '../shell/projects.ts'

/** The mailbox is the same in all projects; its key is the project's, as all keys of its pages. */
const mailboxKey = (projectId: string) => [projectId, 'mailbox']
export const listKey = (projectId: string) => [...mailboxKey(projectId), 'list']
export const mailKey = (projectId: string, id: string) => [...mailboxKey(projectId), 'mail', id]

/** The newest mails, and older ones as they are asked for. New mail appears by itself. */
export function useMessages(search: string | undefined) {
	const { project, api } = useProject()
	const query = useInfiniteQuery({
		queryKey: [...listKey(project.id), search],
		queryFn: ({ pageParam: cursor }) => api.mailbox.listSummaries({ search, cursor, limit: 100 }),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => (page.hasMore ? page.cursor : undefined),
		refetchInterval: liveMs.fast,
		placeholderData: (previous) => previous,
	})
	const messages = useMemo(() => query.data?.pages.flatMap(({ data }) => data), [query.data])
	return {
		messages,
		total: query.data?.pages[0]?.total,
		error: query.error,
		retry: () => void query.refetch(),
		older: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
		isLoadingOlder: query.isFetchingNextPage,
	}
}
