const number = { type: 'integer', minimum: 0 } as const

const headers = {
	'X-Request-Id': {
		description: 'Identifies the request in our logs and in the body of an error',
		schema: { type: 'string', format: 'uuid' },
	},
	'RateLimit-Limit': { description: 'Requests allowed per minute', schema: number },
	'RateLimit-Remaining': { description: 'Requests left in this minute', schema: number },
	'RateLimit-Reset': { description: 'Seconds until the minute ends', schema: number },
	'Retry-After': { description: 'Seconds to wait before the next request', schema: number },
	ETag: {
		description: 'For If-None-Match. Large answers, keys and mails have none',
		schema: { type: 'string' },
	},
} as const

type Name = keyof typeof headers

const limited: Name[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

interface Api {
	paths?: object
	components?: object
}
interface Answer {
	content?: Record<string, unknown>
	headers?: Record<string, { $ref: string }>
}
interface Operation {
	security?: Record<string, unknown>[]
	responses?: Record<string, Answer>
}

/** Headers of answers, described once and referred to by every answer. */
export function withHeaders<T extends Api>(api: T): T {
	for (const path of Object.values(api.paths ?? {}))
		for (const [method, operation] of Object.entries(path as Record<string, Operation>))
			for (const [status, answer] of Object.entries(operation.responses ?? {})) {
				const names = headersOf(status, operation)
				const isRead = method === 'get' && status === '200'
				if (isRead && answer.content?.['application/json']) names.push('ETag')
				answer.headers = Object.fromEntries(
					names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
				)
			}
	return { ...api, components: { ...api.components, headers } }
}

function headersOf(status: string, { security = [] }: Operation) {
	const names: Name[] = ['X-Request-Id']
	// Requests without a key are not counted.
	const isKept = security.some((one) => 'secretKey' in one || 'publicKey' in one)
	if (isKept && status !== '401') names.push(...limited)
	if (status === '429' || status === '503') names.push('Retry-After')
	return names
}
