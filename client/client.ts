import type { Api } from './api.ts'
import { Jobs } from './jobs.ts'
import { methodOf } from './methods.ts'
import type { TempostOptions } from './options.ts'
import type { Connection } from './requests.ts'
import { readRoute } from './route.ts'
import { routes } from './routes.ts'
import { webhooks } from './webhooks.ts'

export interface Tempost extends Api {
	jobs: Jobs
	webhooks: typeof webhooks
}

type Methods = Record<string, unknown>

class Client {
	jobs = new Jobs(this as unknown as Api)
	webhooks = webhooks

	constructor(options: string | TempostOptions = {}) {
		const connection = connectionOf(typeof options === 'string' ? { secretKey: options } : options)
		const methods: Methods = {}
		for (const [name, line] of Object.entries(routes)) {
			const [group = '', method] = name.split('.')
			const place = method === undefined ? methods : ((methods[group] ??= {}) as Methods)
			place[method ?? group] = methodOf(connection, readRoute(name, line))
		}
		Object.assign(this, methods)
	}
}

/** A client of one Tempost service: `new Tempost('sk_…')`, or with options. It has a method for each route. */
export const Tempost = Client as unknown as new (options?: string | TempostOptions) => Tempost

function connectionOf(options: TempostOptions): Connection {
	const url = options.url ?? fromEnvironment('TEMPOST_URL') ?? 'http://localhost:3000'
	return {
		...options,
		url: url.replace(/\/+$/, ''),
		secretKey: options.secretKey ?? fromEnvironment('TEMPOST_SECRET_KEY'),
		publicKey: options.publicKey ?? fromEnvironment('TEMPOST_PUBLIC_KEY'),
		timeoutMs: options.timeoutMs ?? 30_000,
		retries: options.retries ?? 3,
	}
}

/** Not every runtime has an environment, and some forbid reading it. */
function fromEnvironment(name: string) {
	try {
		return globalThis.process?.env[name] || undefined
	} catch {
		return undefined
	}
}
