import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

interface NumberedPage<Item> {
	data: Item[]
	page: number
	totalPages: number
	total: number
}

interface Options<Item> {
	/** Begins with the project's id. */
	key: readonly unknown[]
	load: (page: number) => Promise<NumberedPage<Item>>
	/** Asks again while the page is visible, for as long as rows may still change. */
	liveMs?: (rows: Item[]) => number | false
}

/** A list whose pages have numbers, for `Table`. */
export function usePagedList<Item>({ key, load, liveMs }: Options<Item>) {
	const query = useInfiniteQuery({
		queryKey: key,
		queryFn: ({ pageParam }) => load(pageParam),
		initialPageParam: 1,
		getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
		refetchInterval: ({ state }) => {
			const pages = state.data?.pages ?? []
			return pages.length === 1 ? (liveMs?.(pages[0]!.data) ?? false) : false
		},
		placeholderData: (previous) => previous,
	})
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
