import type { Static, TSchema } from 'typebox'
import Value from 'typebox/value'

export interface StripeSettings {
	secretKey: string
	/** What is subscribed to. undefined: nobody can subscribe, and no usage is reported. */
	priceId: string | undefined
	base: string
}

/** Stripe keeps answering as it did then, whatever version the account has. */
const version = '2025-03-31.basil'
const patienceMs = 10_000

/** Stripe refused, or did not answer. */
export class StripeError extends Error {
	/** null: there was no answer, so it may have been done. */
	status: number | null
	code: string | undefined

	constructor(message: string, status: number | null, code?: string, cause?: unknown) {
		super(message, { cause })
		this.status = status
		this.code = code
	}

	/** What was asked is not to be had, however often it is asked again. */
	get isRefusal() {
		const { status } = this
		return (
			status !== null && status >= 400 && status < 500 && ![401, 403, 409, 429].includes(status)
		)
	}
}

type Parameter = string | number | boolean | undefined | Parameter[] | { [name: string]: Parameter }
type Parameters = Record<string, Parameter>

export type Stripe = ReturnType<typeof createStripe>

/** Calls Stripe's API, once: whoever wants it repeated gives the same key again. */
export function createStripe(settings: StripeSettings) {
	async function call<T extends TSchema>(
		method: 'GET' | 'POST' | 'DELETE',
		path: string,
		parameters: Parameters,
		answer: T,
		idempotencyKey?: string,
	): Promise<Static<T>> {
		const form = encode(parameters)
		const query = method === 'POST' || form.size === 0 ? '' : `?${form.toString()}`
		const headers = {
			authorization: `Bearer ${settings.secretKey}`,
			'stripe-version': version,
			...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
		}
		let status: number
		let body: unknown
		try {
			const response = await fetch(`${settings.base}${path}${query}`, {
				method,
				headers,
				redirect: 'error',
				signal: AbortSignal.timeout(patienceMs),
				...(method === 'POST' ? { body: form } : {}),
			})
			status = response.status
			body = await response.json()
		} catch (error) {
			throw new StripeError('Stripe does not answer', null, undefined, error)
		}
		if (status >= 400) throw refusal(status, body)
		if (Value.Check(answer, body)) return body
		throw new StripeError(`Stripe answered ${method} ${path} with something else`, null)
	}
	return {
		settings,
		get: <T extends TSchema>(path: string, parameters: Parameters, answer: T) =>
			call('GET', path, parameters, answer),
		post: <T extends TSchema>(path: string, parameters: Parameters, answer: T, key: string) =>
			call('POST', path, parameters, answer, key),
		delete: <T extends TSchema>(path: string, parameters: Parameters, answer: T) =>
			call('DELETE', path, parameters, answer),
	}
}

function refusal(status: number, body: unknown) {
	const { error } = (body ?? {}) as { error?: { message?: unknown; code?: unknown } }
	const code = typeof error?.code === 'string' ? error.code : undefined
	return new StripeError(`Stripe answered ${status}: ${String(error?.message)}`, status, code)
}

/** As Stripe's forms nest: `line_items[0][price]`. */
function encode(parameters: Parameters) {
	const form = new URLSearchParams()
	const add = (name: string, value: Parameter) => {
		if (typeof value === 'object')
			for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member)
		else if (value !== undefined) form.append(name, `${value}`)
	}
	for (const [name, value] of Object.entries(parameters)) add(name, value)
	return form
}
