import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'

export interface FakeDomain {
	id: string
	name: string
	status:
		| 'not_started'
		| 'pending'
		| 'verified'
		| 'failed'
		| 'partially_verified'
		| 'partially_failed'
	records: { record: string; status: string }[]
}

/** Resend's domains API, following its documentation: names are unique, and verifying takes time. */
export async function resendDomainsFake(t: ExecutionContext) {
	const domains = new Map<string, FakeDomain>()
	const requests: string[] = []
	let fault: { status: number; name: string } | 'silence' | undefined
	let heldRoute: string | undefined
	const held: (() => void)[] = []
	// No keep-alive, so that no request meets a connection that is just being closed.
	const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
		const route = `${request.method} ${request.url}`
		const say = async (status: number, body: object) => {
			if (route === heldRoute) await new Promise<void>((resolve) => held.push(resolve))
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
		}
		requests.push(route)
		const notFound = () =>
			say(404, { statusCode: 404, name: 'not_found', message: 'Domain not found' })
		if (fault === 'silence') return undefined
		if (fault) return say(fault.status, { ...fault, statusCode: fault.status, message: 'Not now' })
		if (route === 'GET /domains')
			return say(200, { object: 'list', has_more: false, data: [...domains.values()] })
		if (route === 'POST /domains') {
			const { name } = (await json(request)) as { name: string }
			if ([...domains.values()].some((domain) => domain.name === name))
				return say(403, {
					statusCode: 403,
					name: 'validation_error',
					message: 'Already registered',
				})
			const domain = newDomain(name)
			domains.set(domain.id, domain)
			return say(201, domain)
		}
		const [, id, verb] = /^\/domains\/([^/]+)(\/verify)?$/.exec(request.url ?? '') ?? []
		const domain = domains.get(id ?? '')
		if (!domain) return notFound()
		if (request.method === 'DELETE') {
			domains.delete(domain.id)
			return say(200, { object: 'domain', id, deleted: true })
		}
		if (verb && domain.status === 'not_started') domain.status = 'pending'
		return say(200, verb ? { object: 'domain', id } : domain)
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	t.teardown(() => server.close().closeAllConnections())
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		domains,
		requests,
		fail: (next: typeof fault) => (fault = next),
		/** These requests are performed, but each answer waits for its release. */
		hold: (route: string | undefined) => (heldRoute = route),
		held,
		hangUp: () => server.closeAllConnections(),
		find: (name: string) => [...domains.values()].find((domain) => domain.name === name),
		/** Sets the result of the owner's DNS. */
		settle(name: string, status: 'verified' | 'failed') {
			const domain = [...domains.values()].find((one) => one.name === name)!
			domain.status = status
			for (const record of domain.records) record.status = status
		},
		/** Receiving is switched on for the domain, and its record is not found. */
		expectReceiving(name: string, status: 'partially_verified' | 'partially_failed') {
			const domain = [...domains.values()].find((one) => one.name === name)!
			domain.status = status
			for (const record of domain.records)
				if (record.record === 'Receiving') record.status = 'pending'
		},
	}
}

const newDomain = (name: string): FakeDomain => {
	const common = { ttl: 'Auto', status: 'not_started' }
	const records = [
		{
			record: 'SPF',
			name: 'send',
			type: 'MX',
			value: 'feedback-smtp.us-east-1.amazonses.com',
			priority: 10,
			...common,
		},
		{
			record: 'SPF',
			name: 'send',
			type: 'TXT',
			value: 'v=spf1 include:amazonses.com ~all',
			...common,
		},
		{ record: 'DKIM', name: 'resend._domainkey', type: 'TXT', value: 'p=MIGf', ...common },
		{
			record: 'Receiving',
			name: '',
			type: 'MX',
			value: 'inbound.example',
			priority: 10,
			...common,
		},
	]
	return { id: randomUUID(), name, status: 'not_started', records }
}
