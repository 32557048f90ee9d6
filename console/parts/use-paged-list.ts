import { useInfiniteQuery } from '@tanstack/react-query'
import { useLoaded } from './loaded-list.ts'

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
	return useLoaded(query)
}
