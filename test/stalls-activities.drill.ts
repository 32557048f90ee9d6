import { randomBytes } from 'node:crypto'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import test, { type ExecutionContext } from 'ava'
import { mailboxOf } from '../activities/delivery/mailbox.ts'
import type { Activities } from '../activities/index.ts'
import { delayStep, freeze, mailStep, webhookStep } from './helpers/executions.ts'
import { everybody, type LargeWork, setupLargeWork } from './helpers/large-work.ts'
import { csv, largeBody, largeCondition, largeData, largeStep, page } from './helpers/largest.ts'
import { claim, claimOf } from './helpers/ledger.ts'
import { localProvider } from '../outside/providers/local.ts'
import type { Provider } from '../outside/providers/provider.ts'
import { resendOnThread } from './helpers/resend-thread.ts'
import { longestStall } from './helpers/stall.ts'

// One after the other: whatever runs beside a measurement is part of it.

const mostMs = 50
const megabyte = 2 ** 20

/** An id in, and one small row written, or a page of small ones. */
const small: (keyof Activities)[] = [
	'failExecution',
	'cancelExecution',
	'holdCampaign',
	'clearImport',
	'endAsFailed',
	'removeProviderDomain',
	'reportUsage',
	'endSubscription',
]

/** Makes work as large as the API accepts, and returns the arguments of the activity that does it. */
type Prepare = (work: LargeWork) => Promise<unknown[]>
type Cases = Partial<Record<keyof Activities, Prepare>>

const logger = new DefaultLogger('ERROR', () => {})
const environment = { workflowExecution: { workflowId: 'enrol/large', runId: 'run' } }
const run = (
	{ activities }: Pick<LargeWork, 'activities'>,
	name: keyof Activities,
	given: unknown[],
) =>
	new MockActivityEnvironment(environment, { logger }).run(
		activities[name] as (...given: unknown[]) => Promise<unknown>,
		...given,
	)

test.serial('every activity is among those with large work, or named as one without', async (t) => {
	const { activities } = await setupLargeWork(t, 1)
	const names = [executions, campaigns, mails, jobs, webhooks, projects, sweeps].flatMap(
		Object.keys,
	)
	t.deepEqual(Object.keys(activities).toSorted(), [...names, ...small].toSorted())
})

/** A sweep is repeated, because its first run compiles what every other uses. */
function holdNobodyUp(what: string, cases: Cases, isRepeated = false) {
	test.serial(`${what} hold nobody up, however large they are`, async (t) => {
		t.timeout(300_000)
		const work = await setupLargeWork(t)
		const stalls: string[] = []
		for (const [name, prepare] of Object.entries(cases)) {
			if (isRepeated) await run(work, name as keyof Activities, await prepare(work))
			const given = await prepare(work)
			const stall = await longestStall(() => run(work, name as keyof Activities, given))
			if (stall > mostMs / 2) t.log(`${name}: ${stall.toFixed(0)} ms`)
			if (stall > mostMs) stalls.push(`${name}: ${stall.toFixed(0)} ms`)
		}
		t.deepEqual(stalls, [])
	})
}

/** An execution of somebody with the largest data, by the largest event. */
async function execution(work: LargeWork, steps: Parameters<LargeWork['freeze']>[0]['steps']) {
	const { freeze, track, one, project, template } = work
	const event = `an event for ${steps.length}`
	const mail = await template({ body: largeBody, subject: '{{ name }}' })
	const automationId = await freeze({ on: event, steps, name: event }, mail)
	await track(event, largeData, 'large1@example.org')
	const { id } = await one('select id from executions where automation_id = $1', [automationId])
	return { projectId: project.id, executionId: id }
}
const names = Object.keys(largeData).slice(0, 500)
const update = { data: Object.fromEntries(names.map((name) => [name, '{{ k1 }}'])) }

async function move(work: LargeWork): Promise<unknown[]> {
	const steps = [mailStep, ['UPDATE_CONTACT', update], mailStep, delayStep(1)]
	return [await execution(work, steps as never), 0]
}

const executions: Cases = {
	advanceExecution: move,
	advanceInTurn: move,
	async performStep(work) {
		const call = webhookStep(work.webhookUrl, { body: largeStep.config.body })
		const key = await execution(work, [call])
		await run(work, 'advanceExecution', [key, 0])
		return [key, 2]
	},
	async enrolSome({ freeze, select, post, project }) {
		const automationId = await freeze({ steps: [delayStep(1)] })
		const { id } = await post('/segments', { name: 'S', type: 'DYNAMIC', condition: everybody })
		await select(
			`update automations set trigger_type = 'SCHEDULE', schedule = '30 9 * * 1', segment_id = $2
			where id = $1`,
			[automationId, id],
		)
		const scheduledFor = '2026-05-04T07:30:00.000Z'
		return [{ projectId: project.id, automationId, scheduledFor, after: null }]
	},
	async cancelExecutionsOf({ select, project }) {
		const automations = await select<{ id: string }>('select id from automations')
		return [{ projectId: project.id, automationIds: automations.map(({ id }) => id) }]
	},
	async closeRuns({ select, project }) {
		await select(`update executions set status = 'CANCELLED', is_closing = true`)
		return [{ projectId: project.id }]
	},
}

async function campaign({ post, project }: LargeWork, condition: object) {
	const { id } = await post('/campaigns', {
		name: 'C',
		subject: 'S',
		from: 'me@example.com',
		body: page.repeat(17_000),
		audienceType: 'FILTERED',
		audienceCondition: condition,
	})
	await post(`/campaigns/${id}/send`, {})
	return { projectId: project.id, campaignId: id }
}

/** Each continues where the one before ended. */
const campaigns: Cases = {
	advanceCampaign: async (work) => [await campaign(work, everybody)],
	materialiseCampaign: ({ of }) => of('campaigns', 'campaignId'),
	async cancelRecipients({ of, post }) {
		const [key] = await of('campaigns', 'campaignId')
		await post(`/campaigns/${key!['campaignId']}/cancel`, {})
		return [key]
	},
	async sendCampaignPages(work) {
		const filters = [{ field: 'email', operator: 'contains', value: 'large1' }]
		const key = await campaign(work, { logic: 'OR', groups: [{ filters }] })
		await run(work, 'materialiseCampaign', [key])
		return [{ ...key, lane: 0 }]
	},
}

const sendLarge = ({ post }: LargeWork, body: string, fileBytes: number, to: unknown) =>
	post('/v1/send', {
		to,
		from: 'me@example.com',
		subject: 'S',
		body,
		render: false,
		...(fileBytes > 0 && {
			attachments: [
				{
					filename: 'a.bin',
					contentType: 'application/octet-stream',
					content: randomBytes(fileBytes).toString('base64'),
				},
			],
		}),
	})

/** Each is just small enough to be composed with the others. */
async function sendFullMails(work: LargeWork) {
	for (let count = 0; count < 40; count++)
		await sendLarge(work, page.repeat((0.95 * megabyte) / page.length), 0, 'large2@example.org')
	return [claimOf((await claim(work.pool))[0])]
}

const mails: Cases = { deliverClaim: sendFullMails, deliverClaimAtOnce: sendFullMails }

/** Without words, so that the text part adds nothing to the size of the message. */
const wordless = `<!-- ${'x'.repeat(64)} -->\n`
const largest: [what: string, body: string, fileBytes: number][] = [
	['body', `<p>…</p>${wordless.repeat((37 * megabyte) / wordless.length)}`, 0],
	['words', page.repeat((17 * megabyte) / page.length), 0],
	['files', '<p>Hello</p>', 28 * megabyte],
]

const providers: Record<Provider['name'], (t: ExecutionContext, work: LargeWork) => unknown> = {
	smtp: (_, { smtp }) => smtp,
	local: (_, { pool }) => localProvider({ store: mailboxOf(pool) }),
	resend: (t) => resendOnThread(t),
}

for (const [name, open] of Object.entries(providers))
	test.serial(`the largest single mails hold nobody up over ${name}`, async (t) => {
		t.timeout(300_000)
		const work = await setupLargeWork(t, 10)
		await work.select('update projects set owner_verified = true')
		const activities = work.activitiesOver((await open(t, work)) as Provider)
		const stalls: string[] = []
		for (const [what, body, fileBytes] of [['small', 'Hello', 0] as const, ...largest]) {
			await sendLarge(work, body, fileBytes, `${what}@example.org`)
			const claimId = claimOf((await claim(work.pool))[0])
			const stall = await longestStall(() => run({ activities }, 'deliverClaim', [claimId]))
			t.log(`${what}: ${stall.toFixed(0)} ms`)
			if (stall > mostMs) stalls.push(`${what}: ${stall.toFixed(0)} ms`)
		}
		t.deepEqual(stalls, [])
		const { rows } = await work.pool.query('select distinct status, error from emails')
		t.deepEqual(rows, [{ status: 'SENT', error: null }])
	})

const jobs: Cases = {
	async stageImport({ app, of, withSecretKey: headers }) {
		const payload = new FormData()
		payload.append('file', new Blob([csv], { type: 'text/csv' }), 'a.csv')
		await app.inject({ method: 'POST', url: '/contacts/import', headers, payload })
		return of('jobs', 'jobId')
	},
	applyImport: ({ of }) => of('jobs', 'jobId'),
	async undoImport({ of, post }) {
		const [job] = await of('jobs', 'jobId')
		await post(`/contacts/import/${job!['jobId']}/undo`, {})
		return of('jobs', 'jobId')
	},
	async doBulkJob({ of, post }) {
		await post('/contacts/bulk-unsubscribe', { mode: 'query', filter: { condition: everybody } })
		return of('jobs', 'jobId')
	},
}

const webhooks: Cases = {
	/** Events with the largest data, for a server that answers with megabytes and a failure every time. */
	async deliverWebhooks({ of, post, pool, project, webhookUrl }) {
		await post('/webhook-endpoints', { url: webhookUrl, events: ['*'] })
		const [key] = await of('webhook_endpoints', 'endpointId')
		await pool.query(
			`insert into webhook_deliveries (project_id, endpoint_id, event_id, type, contact_id, occurred_at, data, status, next_at)
			select $1, $2, uuidv7(), 'event.e', c.id, now(), jsonb_build_object('name', 'e', 'data', $3::jsonb), 'PENDING', now()
			from (select id from contacts where project_id = $1 limit 200) c`,
			[project.id, key!['endpointId'], JSON.stringify(largeData)],
		)
		return [key]
	},
	async doReplay({ of, post, pool }) {
		const [key] = await of('webhook_endpoints', 'endpointId')
		await pool.query(
			`insert into webhook_deliveries (project_id, endpoint_id, event_id, type, occurred_at, data, status)
			select project_id, id, uuidv7(), 'event.e', now(), '{}', 'FAILED'
			from webhook_endpoints, generate_series(1, 20000) where id = $1`,
			[key!['endpointId']],
		)
		const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
		await post(`/webhook-endpoints/${key!['endpointId']}/replay`, { from, to, only: 'all' })
		return of('jobs', 'jobId')
	},
}

/** Another project, suspended with much under way. */
const projects: Cases = {
	async stopCampaigns(work) {
		const { people, project, rival, select } = work
		const id = await rival()
		await people(id, 3000, {}, 'other')
		await select(
			`insert into campaigns (project_id, name, subject, body, "from", audience_type, status)
			select $1, 'C', 'S', $2, 'me@example.com', 'ALL', 'SENDING' from generate_series(1, 50)`,
			[id, largeBody],
		)
		await select(
			`with mails as (
				insert into emails (project_id, "to", "from", subject, body, source_type, status)
				select $1, n || '@example.org', 'me@example.com', 's', $2, 'TRANSACTIONAL', 'PENDING'
				from generate_series(1, 2000) n returning id
			)
			insert into queued_sends (project_id, request_id, email_ids) select $1, id, array[id] from mails`,
			[id, page.repeat(100)],
		)
		await select(
			`with people as (
				insert into users (email, email_verified_at)
				select gen_random_uuid() || '@example.org', now() from generate_series(1, 500) returning id
			)
			insert into memberships (project_id, user_id, role) select $1, id, 'ADMIN' from people`,
			[id],
		)
		await select(
			`insert into suspensions (project_id, reason, signal) values ($1, 'EMAIL_REPUTATION', 'bounces')`,
			[id],
		)
		await select(`update projects set disabled_reason = 'EMAIL_REPUTATION' where id <> $1`, [
			project.id,
		])
		return work.of('suspensions', 'suspensionId')
	},
	cancelQueuedMail: ({ of }) => of('suspensions', 'suspensionId'),
	tellMembers: ({ of }) => of('suspensions', 'suspensionId'),
	async endProjectRuns({ of, pool, select }) {
		const [key] = await of('suspensions', 'suspensionId')
		const projectId = key!['projectId']!
		const automationId = await freeze(pool, projectId, '', { steps: [delayStep(1)] })
		await select(
			`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, context)
			select project_id, $2, 1, id, true, $3::jsonb from contacts where project_id = $1 limit 300`,
			[projectId, automationId, JSON.stringify(largeData)],
		)
		await select('update projects set deleted_at = now() where id = $1', [projectId])
		return [projectId]
	},
	removeProjectRows: async ({ of }) => [(await of('suspensions', 'suspensionId'))[0]!['projectId']],
}

const sweeps: Cases = {
	async sweepSegments({ post }) {
		const segment = { name: 'S', type: 'DYNAMIC', trackMembership: true }
		for (const condition of [everybody, largeCondition])
			await post('/segments', { ...segment, condition })
		return []
	},
	async sweepProviderEvents({ select }) {
		const evidence = { kind: 'BOUNCED', error: 'x'.repeat(1000), providerMessageId: 'nobody' }
		await select(
			`insert into provider_events (id, received_at, evidence)
			select gen_random_uuid(), now() - n * interval '1 minute', $1::jsonb
			from generate_series(1, 20000) n`,
			[JSON.stringify(evidence)],
		)
		return []
	},
	async checkDomains({ select, project }) {
		await select(
			`insert into domains (project_id, domain, dkim_selector, dkim_public_key, dkim_private_key)
			select $1, gen_random_uuid() || '.example.org', 's', repeat('x', 400), '\\x00'
			from generate_series(1, 50)`,
			[project.id],
		)
		return []
	},
	async keepHouse({ select, project }) {
		await select(
			`insert into idempotency_keys (project_id, key, request, claim_id, expires_at, response)
			select $1, gen_random_uuid(), 'r', uuidv7(), now(), '{}' from generate_series(1, 20000)`,
			[project.id],
		)
		await select(
			`insert into audit_entries (project_id, actor, action, status, ip, request_id, created_at)
			select $1, 'a', 'b', 200, '::1', uuidv7(), now() - interval '500 days'
			from generate_series(1, 20000)`,
			[project.id],
		)
		return []
	},
}

holdNobodyUp('executions', executions)
holdNobodyUp('campaigns', campaigns)
holdNobodyUp('single mails', mails)
holdNobodyUp('imports and bulk jobs', jobs)
holdNobodyUp('webhooks', webhooks)
holdNobodyUp('the ends of projects', projects)
holdNobodyUp('sweeps', sweeps, true)
