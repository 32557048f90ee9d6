import type { ExecutionContext } from 'ava'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Person {
	/** The provider's id of the account. */
	id: number
	emails: { email: string; primary: boolean; verified: boolean }[]
}

/**
 * GitHub (as on an Enterprise server) and Google in one, following their documentation. A code is valid
 * once, for the client, address and challenge it was issued for.
 */
export async function startOAuth(t: ExecutionContext) {
	const client = { clientId: 'our-client', clientSecret: 'our-secret' }
	const granted = new Map<string, { person: Person; challenge: string; redirectUri: string }>()
	const tokens = new Map<string, Person>()
	const seen = { exchanges: 0 }

	function exchange(form: URLSearchParams) {
		seen.exchanges++
		const code = form.get('code') ?? ''
		const grant = granted.get(code)
		granted.delete(code)
		const challenge = createHash('sha256')
			.update(form.get('code_verifier') ?? '')
			.digest('base64url')
		const isRight =
			grant &&
			form.get('client_id') === client.clientId &&
			form.get('client_secret') === client.clientSecret &&
			form.get('redirect_uri') === grant.redirectUri &&
			form.get('grant_type') === 'authorization_code' &&
			challenge === grant.challenge
		if (!isRight) return { error: 'bad_verification_code' }
		const token = randomUUID()
		tokens.set(token, grant.person)
		return { access_token: token, token_type: 'bearer', scope: '' }
	}

	async function answer(request: IncomingMessage): Promise<[number, object]> {
		const path = request.url!.split('?', 1)[0]!
		if (request.method === 'POST') {
			const chunks: Buffer[] = []
			for await (const chunk of request) chunks.push(chunk as Buffer)
			const result = exchange(new URLSearchParams(Buffer.concat(chunks).toString()))
			// GitHub answers every request with 200.
			if (path === '/login/oauth/access_token') return [200, result]
			if (path === '/token') return ['error' in result ? 400 : 200, result]
		}
		const person = tokens.get(request.headers.authorization?.slice('Bearer '.length) ?? '')
		if (!person) return [401, { message: 'Bad credentials' }]
		if (path === '/api/v3/user') return [200, { id: person.id, login: 'somebody' }]
		if (path === '/api/v3/user/emails') return [200, person.emails]
		const own = person.emails.find(({ primary }) => primary)
		if (path === '/v1/userinfo')
			return [200, { sub: `${person.id}`, email: own?.email, email_verified: own?.verified }]
		return [404, {}]
	}

	// No keep-alive, so that no request meets a connection that is just being closed.
	const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
		void answer(request).then(([status, body]) =>
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
		)
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => server.close())
	const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

	/** What the person's browser returns after they have agreed. */
	function agree(location: string, person: Person) {
		const query = new URL(location).searchParams
		const code = randomUUID()
		granted.set(code, {
			person,
			challenge: query.get('code_challenge')!,
			redirectUri: query.get('redirect_uri')!,
		})
		return { code, state: query.get('state')! }
	}

	return { client: { ...client, base }, agree, seen }
}
