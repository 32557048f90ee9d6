import test, { type ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { finished } from 'node:stream/promises'
import {
	addresses,
	csv,
	junk,
	largeBody,
	largeCondition,
	largeData,
	largeStep,
	page,
} from './helpers/largest.ts'
import { type Route, setupRoutes } from './helpers/routes.ts'
import { fillWithLargeRows } from './helpers/large-rows.ts'
import { longestStall } from './helpers/stall.ts'

// Serial, because anything beside a measurement would be part of it.

const mostMs = 50

/** Neither their input nor their answers grow with anyone's data. */
const small = {
	'figures of fixed size': [
		'GET /health',
		'GET /config',
		'GET /auth/oauth-config',
		'GET /activity/types',
		'GET /activity/recent-count',
		'GET /activity/stats',
		'GET /campaigns/{id}/stats',
		'GET /campaigns/{id}/progress',
		'GET /campaigns/{id}/timeseries',
		'GET /workflows/{id}/passage',
		'GET /projects/{id}/setup-state',
		'GET /projects/{id}/system',
		'GET /projects/{id}/security',
		'GET /users/@me/projects/{id}/security',
		'GET /users/@me/projects/{id}/billing-limits',
		'GET /events/{eventName}/usage',
		'GET /users/@me/projects/{id}/billing-consumption',
		'GET /analytics/timeseries',
		'GET /contacts/bulk/{jobId}',
		'GET /analytics/top-events',
		'GET /activity/upcoming',
		'GET /analytics/top-campaigns',
		'GET /projects/{id}/webhook-secret',
		'GET /webhook-endpoints/{id}/replay/{jobId}',
	],
	'names, of few things': [
		'GET /users/@me',
		'GET /users/@me/projects',
		'GET /projects/{id}/members',
		'GET /projects/{id}/invitations',
		'GET /domains/project/{projectId}',
		'GET /domains/{id}/verify',
		'GET /suppressions',
		'GET /contacts/import',
		'GET /webhook-endpoints',
		'GET /webhook-endpoints/{id}',
		'GET /contacts/fields/{field}/usage',
		'GET /templates/{id}/usage',
		'GET /segments/{id}/usage',
		'GET /workflows',
		'GET /workflows/{id}/versions',
		'GET /analytics/campaign-stats',
		'GET /users/@me/projects/{id}/billing-invoices',
	],
	'an id or nothing in, and little out': [
		'GET /auth/logout',
		'POST /auth/request-verification',
		'POST /campaigns/{id}/cancel',
		'POST /webhook-endpoints/{id}/rotate-secret',
		'POST /campaigns/{id}/pause',
		'POST /campaigns/{id}/resume',
		'POST /projects/{id}/webhook-secret',
		'POST /projects/{id}/invitations/{invitationId}/resend',
		'POST /segments/{id}/compute',
		'POST /segments/{id}/refresh',
		'POST /users/@me/projects/{id}/checkout',
		'POST /users/@me/projects/{id}/billing-portal',
		'POST /users/@me/projects/{id}/reset',
		'POST /users/@me/projects/{id}/regenerate-keys',
		'POST /contacts/import/{jobId}/undo',
		'POST /workflows/{id}/executions/cancel-all',
		'POST /workflows/{id}/executions/retry-failed',
		'PATCH /mailbox/messages/{id}',
		'POST /workflows/{id}/executions/{executionId}/retry',
		'POST /contacts/public/{id}/subscribe',
		'POST /contacts/public/{id}/unsubscribe',
	],
	'a page for people': [
		'GET /auth/verify-email',
		'GET /auth/reset-password',
		'GET /auth/accept-invitation',
		'GET /auth/local',
		'GET /auth/{provider}',
		'GET /auth/{provider}/callback',
		'GET /unsubscribe/{id}',
		'POST /unsubscribe/{id}',
		'GET /subscribe/{id}',
		'POST /subscribe/{id}',
		'GET /manage/{id}',
		'POST /manage/{id}',
		'GET /contacts/public/{id}',
	],
	'takes something away': [
		'DELETE /projects/{id}/members/{userId}',
		'DELETE /projects/{id}/invitations/{invitationId}',
		'DELETE /users/@me/projects/{id}',
		'DELETE /events/{eventName}',
		'DELETE /workflows/{id}/executions/{executionId}',
		'DELETE /contacts/fields/{field}',
		'DELETE /contacts/{id}',
		'DELETE /segments/{id}',
		'DELETE /suppressions/{email}',
		'DELETE /templates/{id}',
		'DELETE /workflows/{id}',
		'DELETE /workflows/{id}/steps/{stepId}',
		'DELETE /campaigns/{id}',
		'DELETE /domains/{id}',
		'DELETE /workflows/{id}/transitions/{transitionId}',
		'DELETE /contacts/import/{jobId}',
		'DELETE /contacts/bulk/{jobId}',
		'DELETE /mailbox/messages',
		'DELETE /webhook-endpoints/{id}',
		'DELETE /webhook-endpoints/{id}/replay/{jobId}',
		'DELETE /mailbox/messages/{id}',
	],
}

const mail = { subject: 'S', body: largeBody, from: 'me@example.com' }
const ids = Array.from({ length: 1000 }, () => randomUUID())
const largeGraph = {
	steps: Array.from({ length: 14 }, (_, at) => ({
		...largeStep,
		id: ids[at],
		...(at === 0 && { type: 'TRIGGER', config: {} }),
	})),
	transitions: [],
}

/** The largest bodies that their schemas and limits allow. */
const largeBodies: Record<string, object> = {
	'POST /v1/send': {
		...mail,
		body: page.repeat(1000),
		to: addresses(4),
		data: Object.fromEntries(Object.entries(largeData).slice(0, 1000)),
	},
	'POST /v1/send/batch': Array.from({ length: 100 }, () => ({
		...mail,
		body: page.repeat(100),
		to: addresses(10),
	})),
	'POST /v1/track': { email: 'b@example.org', event: 'e', data: largeData },
	'POST /events/track': { email: 'c@example.org', event: 'e', data: largeData },
	'POST /contacts': { email: 'd@example.org', data: largeData },
	'PATCH /contacts/{id}': { data: largeData },
	'POST /contacts/lookup': { emails: addresses(500) },
	'POST /contacts/query': { condition: largeCondition, limit: 100 },
	'POST /segments/preview': { condition: largeCondition },
	'POST /contacts/bulk-subscribe': { contactIds: ids },
	'POST /contacts/bulk-unsubscribe': { contactIds: ids },
	'POST /contacts/bulk-delete': { mode: 'query', filter: { condition: largeCondition } },
	'POST /segments': { name: 'S', type: 'DYNAMIC', condition: largeCondition },
	'PATCH /segments/{id}': { condition: largeCondition },
	'POST /segments/{id}/members': { emails: addresses(500), createMissing: true },
	'DELETE /segments/{id}/members': { emails: addresses(500) },
	'POST /templates': { ...mail, name: 'T' },
	'PATCH /templates/{id}': { body: largeBody },
	'POST /templates/{id}/preview': { data: largeData },
	'POST /templates/preview': { subject: 'S', body: page.repeat(16_000), data: largeData },
	'POST /templates/{id}/test': { to: 'a@example.org', data: largeData },
	'POST /campaigns': {
		...mail,
		name: 'C',
		body: page.repeat(18_000),
		audienceType: 'FILTERED',
		audienceCondition: largeCondition,
	},
	'POST /campaigns/audience': { audienceType: 'FILTERED', audienceCondition: largeCondition },
	'PUT /campaigns/{id}': { body: largeBody },
	'POST /campaigns/{id}/test': { email: 'a@example.org', data: largeData },
	'POST /workflows/{id}/executions': { contactId: '', context: largeData },
	'POST /workflows/{id}/steps': largeStep,
	'PUT /workflows/{id}/graph': largeGraph,
	'POST /workflows/{id}/graph/validate': largeGraph,
	'PATCH /workflows/{id}/steps/{stepId}': { config: { reason: 'x'.repeat(500) } },
}

const form = (name: string, type: string, content: string) => ({
	type: 'multipart/form-data; boundary=edge',
	payload: Buffer.from(
		`--edge\r\nContent-Disposition: form-data; name="${name}"; filename="a.csv"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--edge--\r\n`,
		'latin1',
	),
})
const largeFiles: Record<string, { type: string; payload: string | Buffer }> = {
	'POST /contacts/import': form('file', 'text/csv', csv),
	'POST /uploads/image': form('image', 'image/png', `\x89PNG\r\n\x1a\n${'x'.repeat(9e6)}`),
	'POST /webhooks/bounce': {
		type: 'message/rfc822',
		payload: 'Content-Type: multipart/report; boundary=b\n\n--b\n'.repeat(200_000),
	},
}

/** They read many or large rows: see test/helpers/large-rows.ts. */
const largeAnswers: Record<string, string> = {
	'GET /contacts': '?limit=100',
	'GET /contacts/{id}': '',
	'GET /contacts/fields': '',
	'GET /contacts/fields/{field}/values': '?limit=200',
	'GET /contacts/import/{jobId}': '',
	'GET /contacts/import/{jobId}/errors': '',
	'GET /segments': '',
	'GET /segments/{id}': '',
	'GET /segments/{id}/contacts': '?pageSize=100',
	'GET /events': '?limit=1000',
	'GET /events/contact/{contactId}': '?limit=1000',
	'GET /events/names': '',
	'GET /events/stats': '',
	'GET /activity': '?limit=100',
	'GET /emails': '?limit=100',
	'GET /emails/{id}': '',
	'GET /emails/{id}/parts': '',
	'GET /emails/{id}/source': '',
	'POST /emails/{id}/cancel': '',
	'POST /emails/{id}/resend': '',
	'GET /webhook-endpoints/{id}/deliveries': '?limit=100',
	'GET /webhook-deliveries/{id}': '',
	'POST /webhook-deliveries/{id}/retry': '',
	'GET /templates': '?pageSize=100',
	'GET /templates/{id}': '',
	'POST /templates/{id}/duplicate': '',
	'GET /campaigns': '?pageSize=100',
	'GET /campaigns/{id}': '',
	'GET /campaigns/{id}/recipients': '?limit=100',
	'POST /campaigns/{id}/duplicate': '',
	'GET /workflows/{id}': '',
	'POST /workflows/{id}/validate': '',
	'GET /workflows/{id}/versions/{version}': '',
	'POST /workflows/{id}/versions/{version}/restore': '',
	'POST /workflows/{id}/duplicate': '',
	'GET /workflows/fields': '',
	'GET /workflows/{id}/executions': '?pageSize=100',
	'GET /contacts/{id}/executions': '?pageSize=100',
	'GET /workflows/{id}/executions/{executionId}': '',
	'GET /projects/{id}/audit': '?limit=100',
	'GET /mailbox': '',
	'GET /mailbox/messages': '?limit=1000',
	'GET /mailbox/summaries': '?limit=100',
	'GET /mailbox/messages/{id}': '',
	'GET /mailbox/messages/{id}/raw': '',
	'GET /mailbox/messages/{id}/html': '',
	'GET /mailbox/messages/{id}/attachments/{position}': '',
}

const takesJson = ({ operation }: Route) =>
	operation.requestBody?.content['application/json'] !== undefined

test('every route is among those with large input, or named as one without', async (t) => {
	const { routes } = await setupRoutes(t)
	const known = new Set([
		...Object.values(small).flat(),
		...[largeBodies, largeFiles, largeAnswers].flatMap((table) => Object.keys(table)),
		...routes.filter(takesJson).map(({ name }) => name),
	])
	const names = routes.map(({ name }) => name)
	t.deepEqual(
		names.filter((name) => !known.has(name)),
		[],
	)
	t.deepEqual(
		[...known].filter((name) => !names.includes(name)),
		[],
	)
})

async function setupStalls(t: ExecutionContext) {
	t.timeout(600_000)
	const context = await setupRoutes(t)
	const { app, routes, urlOf, headersFor, mine, pool, project } = context
	await pool.query(
		`insert into domains (project_id, domain, verified_at) values ($1, 'example.com', now())`,
		[project.id],
	)
	const stalls: string[] = []
	async function ask(route: Route, query = '', type?: string, payload?: string | Buffer) {
		const answer = await app.inject({
			method: route.method,
			url: `${urlOf(route, mine)}${query}`,
			headers: { ...headersFor(route), ...(type && { 'content-type': type }) },
			...(payload === undefined ? {} : { payload }),
			payloadAsStream: true,
		})
		await finished(answer.stream().resume())
		return answer.statusCode
	}
	/** Of a second request: the first compiles what every other uses. */
	async function measure(route: Route, query?: string, type?: string, payload?: string | Buffer) {
		const status = await ask(route, query, type, payload)
		const isFound = route.method !== 'GET' || status === 200
		t.true(status < 500 && status !== 401 && isFound, `${route.name}: ${status}`)
		const stall = await longestStall(() => ask(route, query, type, payload))
		if (stall > mostMs / 2) t.log(`${route.name}: ${Math.round(stall)} ms`)
		if (stall > mostMs) stalls.push(`${route.name}: ${Math.round(stall)} ms`)
	}
	return { ...context, routes, measure, stalls }
}

test.serial('an unexpected body of a megabyte does not block the event loop', async (t) => {
	const { routes, valid, measure, stalls } = await setupStalls(t)
	for (const route of routes.filter(takesJson)) {
		if (/regenerate-keys|^POST \/webhooks|^PATCH \/mailbox/.test(route.name)) continue
		const body = JSON.stringify(valid(route) ?? {})
		const joint = body === '{}' ? '' : ','
		await measure(route, '', 'application/json', `${body.slice(0, -1)}${joint}"junk":${junk}}`)
	}
	t.deepEqual(stalls, [])
})

test.serial('the largest body of each route does not block the event loop', async (t) => {
	const { routes, measure, stalls, mine, pool } = await setupStalls(t)
	await pool.query('update templates set body = $1', [largeBody])
	await pool.query('update campaigns set body = $1', [largeBody])
	for (const route of routes) {
		const body = largeBodies[route.name]
		const contactId = mine['contact']
		const payload = JSON.stringify(
			body && 'contactId' in body ? { ...body, contactId } : (body ?? {}),
		)
		if (body) await measure(route, '', 'application/json', payload)
		const file = largeFiles[route.name]
		if (file) await measure(route, '', file.type, file.payload)
	}
	t.deepEqual(stalls, [])
})

test.serial('the largest rows of each route do not block the event loop', async (t) => {
	const { routes, measure, stalls, ...context } = await setupStalls(t)
	await fillWithLargeRows(context)
	for (const route of routes) {
		const query = largeAnswers[route.name]
		if (query !== undefined) await measure(route, query)
	}
	t.deepEqual(stalls, [])
})
