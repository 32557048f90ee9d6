import test from 'ava'
import { warmUpMcp } from '../api/mcp/mcp-server.ts'
import { fillWithLargeRows } from './helpers/large-rows.ts'
import { junk, largeCondition, largeData, page } from './helpers/largest.ts'
import { calling } from './helpers/mcp.ts'
import { setupRoutes } from './helpers/routes.ts'
import { longestStall } from './helpers/stall.ts'

const mostMs = 50
const letter = { from: 'me@example.com', subject: 'S', body: page.repeat(1000) }

test.serial(
	'no call of a tool blocks the event loop, however large its input or result',
	async (t) => {
		t.timeout(600_000)
		const context = await setupRoutes(t)
		const { app, pool, project, mine, withSecretKey } = context
		await pool.query(
			`insert into domains (project_id, domain, verified_at) values ($1, 'example.com', now())`,
			[project.id],
		)
		await fillWithLargeRows(context)
		await warmUpMcp(app)
		const { contact, campaign, segment, workflow, execution, email } = mine
		const calls: [name: string, given?: object][] = [
			['send_mail', { ...letter, to: 'a@example.org', data: largeData }],
			['send_mail', { ...letter, to: Array.from({ length: 1000 }, (_, n) => `p${n}@example.org`) }],
			['explain_mail', { emailId: email }],
			['search_mails', { limit: 20 }],
			['find_contact', { limit: 25 }],
			['contact_timeline', { contactId: contact, limit: 50 }],
			['upsert_contact', { email: 'd@example.org', data: largeData }],
			['track_event', { email: 'd@example.org', event: 'e', data: largeData }],
			['check_suppressions'],
			['delete_contacts', { segmentId: segment }],
			['list_segments'],
			['preview_segment', { segmentId: segment }],
			['preview_segment', { condition: largeCondition }],
			['list_templates'],
			['list_campaigns'],
			[
				'draft_campaign',
				{
					...letter,
					name: 'C',
					body: page.repeat(15_000),
					audienceType: 'FILTERED',
					audienceCondition: largeCondition,
				},
			],
			['preview_campaign', { campaignId: campaign }],
			['send_test_mail', { campaignId: campaign, address: 'a@example.org' }],
			['send_campaign', { campaignId: campaign }],
			['read_figures'],
			['read_figures', { campaignId: campaign }],
			['list_domains'],
			['list_workflows'],
			['list_workflows', { workflowId: workflow }],
			['explain_execution', { workflowId: workflow }],
			['explain_execution', { workflowId: workflow, executionId: execution }],
		]
		const ask = (payload: string) =>
			app.inject({
				method: 'POST',
				url: '/mcp',
				headers: {
					...withSecretKey,
					'content-type': 'application/json',
					accept: 'application/json, text/event-stream',
				},
				payload,
			})
		const stalls: string[] = []
		async function measure(name: string, body: object, isError = false, status = 200) {
			const payload = JSON.stringify(body)
			const { statusCode, body: text } = await ask(payload)
			t.is(statusCode, status, `${name}: ${text.slice(0, 500)}`)
			t.is(text.includes('"isError":true'), isError, `${name}: ${text.slice(0, 500)}`)
			const stall = await longestStall(() => ask(payload))
			t.log(`${name}: ${Math.round(stall)} ms, ${text.length} characters`)
			if (stall > mostMs) stalls.push(`${name}: ${Math.round(stall)} ms`)
		}
		await measure('tools/list', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
		for (const [name, given] of calls) await measure(name, calling(name, given))
		const unknown = JSON.parse(junk) as object
		await measure('unknown members', calling('upsert_contact', unknown), true)
		const message = calling('list_domains')
		const besideIt = { ...message, params: { ...message.params, _meta: unknown } }
		await measure('unknown members beside the arguments', besideIt, false, 400)
		t.deepEqual(stalls, [])
	},
)
