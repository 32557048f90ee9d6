import { Tempost, TempostError } from '../client/index.ts'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { fetchKept } from './kept-answers.ts'

/** The typed client of the API. A browser sends the session's cookie by itself. */
export const clientOf = (projectId?: string) =>
	new Tempost({ url: location.origin, projectId, retries: 1, fetch: fetchKept })

/** For what concerns the person, whatever the project. */
export const ownApi = clientOf()

export const isStatus = (error: unknown, ...statuses: number[]) =>
	error instanceof TempostError && statuses.includes(error.status)

/**
 * A session that has ended leads to the log-in, from any page. A person with unsaved changes may choose to stay, and is
 * asked again only when they act, or when another session ends.
 */
export function createQueries(onSessionEnd: () => void) {
	let hasSession = true
	const isOver = (error: Error) => isStatus(error, 401)
	return new QueryClient({
		queryCache: new QueryCache({
			onSuccess() {
				hasSession = true
			},
			onError(error) {
				if (!isOver(error)) return
				if (hasSession) onSessionEnd()
				hasSession = false
			},
		}),
		mutationCache: new MutationCache({
			onError(error) {
				if (isOver(error)) onSessionEnd()
			},
		}),
		defaultOptions: {
			queries: {
				staleTime: 2000,
				// The client has repeated what may be repeated.
				retry: false,
				refetchOnWindowFocus: true,
			},
		},
	})
}

/** How often a page that shows something live asks again, while it is visible. */
export const liveMs = { fast: 1000, normal: 5000, slow: 30_000 }
