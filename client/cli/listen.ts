import { createHmac } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { isOfTheWeb } from '../address.ts'
import { TempostError } from '../index.ts'
import type { Tempost, WebhookDelivery } from '../index.ts'
import { bytesOfSecret } from '../webhooks.ts'
import { type Command, type Context, faultOf, textOf, UsageError } from './command.ts'
import { type Feed, follow, pageSize, patiently, retries, untilStopped } from './following.ts'

const patienceMs = 10_000

export const listen: Command = {
	usage: '--forward-to URL',
	mostWords: 0,
	summary: 'Forward the project’s webhooks to a program on this machine.',
	options: {
		'forward-to': { type: 'string' },
		events: { type: 'string' },
		secret: { type: 'string' },
	},
	help: {
		'forward-to': 'where they are posted: http://localhost:4000/hook',
		events: 'only these: email.bounced,contact.*,event.signup',
		secret: 'signs them; by default a new one, which is printed',
	},
	async run({ tempost, values, out, signal }) {
		const url = textOf(values, 'forward-to')
		if (!url || !isOfTheWeb(url))
			throw new UsageError('--forward-to needs an address like http://localhost:4000/hook')
		const events = textOf(values, 'events')?.split(',') ?? ['*']
		const given = textOf(values, 'secret')
		if (given !== undefined && !bytesOfSecret(given))
			throw new UsageError('--secret begins with whsec_, followed by base64')
		const begin = () => keptEndpoint({ tempost, signal }, url, events)
		const endpoint = await untilStopped(signal, begin)
		if (!endpoint) return
		const secret = given ?? endpoint.secret
		out.note(`Signed with ${secret}`)
		out.note(`Forwarding to ${url} until Ctrl-C`)
		const deliveries = deliveriesOf(tempost, endpoint.id, signal)
		try {
			await untilStopped(signal, async () => {
				for await (const delivery of follow(deliveries, new Date(0), { out, signal })) {
					const { payload } = await patiently({ out, signal }, () =>
						tempost.webhookDeliveries.get(delivery.id, { signal, retries }),
					)
					if (payload !== null) await forward({ out, signal }, url, secret, delivery, payload)
				}
			})
		} finally {
			await removeEndpoint(tempost, endpoint.id)
		}
	},
}

/**
 * An endpoint that is disabled keeps its events, from now on. Nothing is ever sent to its address. One that an
 * earlier command of this person on this machine left behind is removed. Others may forward to the same address,
 * each to a program of their own.
 */
async function keptEndpoint(
	{ tempost, signal }: Pick<Context, 'tempost' | 'signal'>,
	forwardTo: string,
	events: string[],
) {
	const listener = `${userName()}@${hostname()}`
	const marks = new URLSearchParams({ 'forward-to': forwardTo, listener })
	const url = `https://listen.invalid/?${marks.toString()}`
	for (const old of await tempost.webhookEndpoints.list({ signal }))
		if (old.url === url) await removeEndpoint(tempost, old.id)
	const description = `tempost listen by ${listener} --forward-to ${forwardTo}`.slice(0, 500)
	return tempost.webhookEndpoints.create({ url, events, description, enabled: false })
}

/** In a container, the user may have only a number. */
function userName() {
	try {
		return userInfo().username
	} catch {
		return String(process.getuid?.())
	}
}

/** Somebody else may have deleted it already. */
async function removeEndpoint({ webhookEndpoints }: Tempost, id: string) {
	try {
		await webhookEndpoints.delete(id)
	} catch (error) {
		if (!(error instanceof TempostError && error.status === 404)) throw error
	}
}

const deliveriesOf = (
	{ webhookEndpoints }: Tempost,
	endpointId: string,
	signal: AbortSignal,
): Feed<WebhookDelivery> => ({
	list: (since) =>
		webhookEndpoints.listDeliveries(
			endpointId,
			{ limit: pageSize, from: since?.toISOString() },
			{ signal, retries },
		),
	timeOf: ({ occurredAt }) => occurredAt,
	keyOf: ({ id }) => id,
})

async function forward(
	{ out, signal }: Pick<Context, 'out' | 'signal'>,
	url: string,
	secret: string,
	{ webhookId: id, type, occurredAt }: WebhookDelivery,
	body: string,
) {
	const began = Date.now()
	const answer = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...signatureOf(id, body, secret) },
		body,
		signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
	}).then(
		({ status }) => ({ status }),
		(error: Error) => ({ error: faultOf(error) }),
	)
	const said = 'status' in answer ? String(answer.status) : answer.error
	const result = { id, type, ...answer, durationMs: Date.now() - began }
	out.show(result, () => `${occurredAt}  ${type.padEnd(20)}  ${said}`)
}

function signatureOf(id: string, body: string, secret: string) {
	const seconds = Math.floor(Date.now() / 1000)
	const code = createHmac('sha256', bytesOfSecret(secret)!)
		.update(`${id}.${seconds}.${body}`)
		.digest('base64')
	return {
		'webhook-id': id,
		'webhook-timestamp': String(seconds),
		'webhook-signature': `v1,${code}`,
	}
}
