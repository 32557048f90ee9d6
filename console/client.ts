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

/** A session that has ended leads to the log-in, from any page. */
export function createQueries(onSessionEnd: () => void) {
	const onError = (error: Error) => {
		if (isStatus(error, 401)) onSessionEnd()
	}
	return new QueryClient({
		queryCache: new QueryCache({ onError }),
		mutationCache: new MutationCache({ onError }),
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
