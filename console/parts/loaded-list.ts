import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { useMemo } from 'react'

interface Loaded<Item> {
	data: Item[]
	total: number
}

/** The pages of a list that were loaded so far. */
export function useLoaded<Item>(query: UseInfiniteQueryResult<InfiniteData<Loaded<Item>>>) {
	const rows = useMemo(() => query.data?.pages.flatMap(({ data }) => data), [query.data])
	return {
		total: query.data?.pages[0]?.total,
		/** For `Table`. */
		list: {
			rows,
			error: query.error,
			retry: () => void query.refetch(),
			more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
			isLoadingMore: query.isFetchingNextPage,
		},
	}
}
