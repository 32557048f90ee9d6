import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { advance } from '../../activities/automations/advance.ts'
import type { Stop } from '../../activities/automations/stop.ts'
import { recordSent, type SentOutcome } from '../../db/emails/ledger.ts'
import type { AutomationDefinition } from '../../db/automations/automation-definition.ts'
import { setup } from './app.ts'

export type StepSketch = [type: string, config: object, name?: string]
export type WaySketch = [from: number, to: number, branch?: string]

export interface Sketch {
	/** The event that starts it; absent: a manual start. */
	on?: string
	reentry?: boolean
	steps: StepSketch[]
	/** By default one step after the other. Step 0 is the trigger. */
	ways?: WaySketch[]
	name?: string
}

export const mailStep: StepSketch = ['SEND_EMAIL', { recipient: { type: 'CONTACT' } }, 'Mail']
export const delayStep = (amount: number, unit = 'seconds'): StepSketch => [
	'DELAY',
	{ amount, unit },
	'Sleep',
]
export const waitStep = (
	eventName: string,
	timeout: number | null = null,
	since = 'step',
): StepSketch => ['WAIT_FOR_EVENT', { eventName, timeout, since }, 'Wait']
export const webhookStep = (url: string, config: object = {}): StepSketch => [
	'WEBHOOK',
	{
		url,
		method: 'POST',
		headers: {},
		body: null,
		retryFor: 3600,
		continueOnError: false,
		...config,
	},
	'Call',
]

const stepId = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`

/** An enabled automation with one frozen version, as if edited. */
export async function freeze(
	pool: Pool,
	projectId: string,
	templateId: string | null,
	sketch: Sketch,
) {
	const { on, reentry = false, steps, name = 'Welcome' } = sketch
	const ways = sketch.ways ?? steps.map((_, i): WaySketch => [i, i + 1])
	const all: StepSketch[] = [['TRIGGER', {}, 'Start'], ...steps]
	const definition = {
		trigger: on ? { type: 'EVENT', eventName: on } : { type: 'MANUAL' },
		allowReentry: reentry,
		steps: all.map(([type, config, name = type], i) => ({
			id: stepId(i),
			type,
			name,
			config,
			templateId: type === 'SEND_EMAIL' ? templateId : null,
		})),
		transitions: ways.map(([from, to, branch = null], priority) => ({
			fromStepId: stepId(from),
			toStepId: stepId(to),
			branch,
			priority,
		})),
	} as AutomationDefinition
	const {
		rows: [row],
	} = await pool.query<{ id: string }>(
		`insert into automations (project_id, name, enabled, trigger_type, event_name, allow_reentry,
			current_version)
		values ($1, $2, true, $3, $4, $5, 1) returning id`,
		[projectId, name, on ? 'EVENT' : 'MANUAL', on ?? null, reentry],
	)
	await pool.query(
		`insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		values ($1, $2, 1, $3, 'hash', '{}')`,
		[projectId, row!.id, JSON.stringify(definition)],
	)
	const waits = steps.flatMap(([type, config]) =>
		type === 'WAIT_FOR_EVENT' ? [(config as { eventName: string }).eventName] : [],
	)
	await pool.query(
		`insert into automation_event_names (project_id, name, automation_id)
		select distinct $1::uuid, name, $2::uuid from unnest($3::text[]) name`,
		[projectId, row!.id, [...(on ? [on] : []), ...waits]],
	)
	return row!.id
}

export interface ExecutionRow {
	id: string
	status: string
	visit: number
	exit_reason: string | null
	error: string | null
	event: { id: string; name: string; data: Record<string, unknown> } | null
	wait_event_name: string | null
	wakes_at: Date | null
	contact_id: string | null
}

interface OutboxRow {
	workflow_id: string
	priority: number
	payload: Record<string, unknown>
	summary: string
}

/** An API with a project that may send, a template and shortcuts. Executions are moved by calls. */
export async function setupExecutions(t: ExecutionContext, options?: Parameters<typeof setup>[1]) {
	const context = await setup(t, options)
	const { app, pool, project, withPublicKey, withSecretKey: headers } = context
	await pool.query(
		`insert into domains (project_id, domain, verified_at) values ($1, 'example.com', now())`,
		[project.id],
	)
	const template = async (columns: Record<string, string> = {}) => {
		const row = {
			name: 'Hello',
			subject: 'Hello {{ name }}',
			body: '<p>{{ event.product }}</p>',
			type: 'MARKETING',
			...columns,
		}
		const { rows } = await pool.query<{ id: string }>(
			`insert into templates (project_id, name, subject, body, "from", type)
			values ($1, $2, $3, $4, 'shop@example.com', $5) returning id`,
			[project.id, row.name, row.subject, row.body, row.type],
		)
		return rows[0]!.id
	}
	const templateId = await template()
	const services = {
		pool,
		relay: { wake: () => {} },
		settings: { publicUrl: 'https://mail.example.com' },
	}
	const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
	const contact = async (email = 'ann@example.org', data: object = {}, subscribed = true) => {
		const answer = await call('POST', '/contacts', { email, data, subscribed })
		return answer.json<{ id: string }>().id
	}
	const select = async <Row extends object>(sql: string, values: unknown[] = []) =>
		(await pool.query<Row>(sql, values)).rows

	return {
		...context,
		templateId,
		template,
		services,
		call,
		contact,
		select,
		freeze: (sketch: Sketch, mailTemplate = templateId) =>
			freeze(pool, project.id, mailTemplate, sketch),
		track: (event: string, data: object = {}, email = 'ann@example.org') =>
			app.inject({
				method: 'POST',
				url: '/v1/track',
				headers: withPublicKey,
				payload: { email, event, data },
			}),
		/** The id of the only execution. */
		executionId: async () => (await select<{ id: string }>('select id from executions'))[0]!.id,
		executions: () => select<ExecutionRow>('select * from executions order by id'),
		/** Sends all waiting mails, as workers record it. */
		sendMails: () => sendMails(pool, project.id),
		visits: async () =>
			(
				await select<{ type: string; status: string }>(
					'select type, status from execution_steps order by execution_id, visit',
				)
			).map(({ type, status }) => `${type} ${status}`),
		mails: () =>
			select<{ subject: string; status: string; error: string | null; to: string; body: string }>(
				'select * from emails order by id',
			),
		outbox: (kind: string) =>
			select<OutboxRow>('select * from outbox where kind = $1 order by id', [kind]),
		/** Makes the workflow's call. */
		advance: (executionId: string, done = 0, mostMs?: number, mostEvents?: number): Promise<Stop> =>
			advance(services, { projectId: project.id, executionId }, done, mostMs, mostEvents),
	}
}

async function sendMails(pool: Pool, projectId: string) {
	const { rows } = await pool.query<{ id: string; attempt: number }>(
		`update emails set status = 'SENDING', attempt = attempt + 1, attempt_started_at = now()
		where project_id = $1 and status = 'PENDING' returning id, attempt`,
		[projectId],
	)
	const emailIds = rows.map(({ id }) => id)
	const outcomes = Object.fromEntries(
		rows.map(({ id, attempt }): [string, SentOutcome] => [id, [attempt, null, null, null]]),
	)
	await recordSent(pool, { projectId, emailIds, outcomes })
	return emailIds
}
