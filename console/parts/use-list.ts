import { useInfiniteQuery } from '@tanstack/react-query'
import { useLoaded } from './loaded-list.ts'

interface CursorPage<Item> {
	data: Item[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

interface Options<Item> {
	/** Begins with the project's id. */
	key: readonly unknown[]
	load: (cursor: string | undefined) => Promise<CursorPage<Item>>
	/** Asks again while the page is visible, for lists that are still short enough to ask for as a whole. */
	liveMs?: number
}

/** A list that is loaded page by page, for `Table`. */
export function useCursorList<Item>({ key, load, liveMs }: Options<Item>) {
	const query = useInfiniteQuery({
		queryKey: key,
		queryFn: ({ pageParam }) => load(pageParam),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => (page.hasMore ? page.cursor : undefined),
		refetchInterval: ({ state }) =>
			liveMs !== undefined && (state.data?.pages.length ?? 0) <= 1 ? liveMs : false,
		placeholderData: (previous) => previous,
	})
	const { list, total } = useLoaded(query)
	// Rows of the list before stay until others are there, but its number is none of this one.
	return { list, total: query.isPlaceholderData ? undefined : total, query }
}
