import type { Paged } from './options.ts'

type Page = Record<string, unknown>
type Query = Record<string, unknown>

/** Asks for the first page at once, and for the others when they are iterated. */
export function paged(
	send: (query: Query) => Promise<unknown>,
	query: Query,
): Paged<unknown, unknown> {
	const first = send(query)
	return Object.assign(first, {
		async *[Symbol.asyncIterator]() {
			for (let page = (await first) as Page; ;) {
				yield* itemsOf(page)
				const next = nextOf(page)
				if (!next) return
				page = (await send({ ...query, ...next })) as Page
			}
		},
	})
}

const itemsOf = (page: Page) => Object.values(page).find(Array.isArray) as unknown[]

export const isPage = (answer: unknown): answer is Page =>
	Object.values(Object(answer) as Page).some(Array.isArray)

/** What the query for the next page adds. */
function nextOf({ cursor, page, totalPages }: Page) {
	if (typeof cursor === 'string') return { cursor }
	return Number(page) < Number(totalPages) ? { page: Number(page) + 1 } : undefined
}
