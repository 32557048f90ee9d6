import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import { type Cancelling, cancellingActivities } from '../activities/automations/cancelling.ts'
import { email, newPassword, setupTrap } from './helpers/account-links.ts'
import { lockWaits } from './helpers/locks.ts'
import { cookieOf } from './helpers/people.ts'

const webhook = { type: 'WEBHOOK', config: { url: 'https://example.com/hook' } }
const harmless = { type: 'UPDATE_CONTACT', config: { data: { seen: true } } }
const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' } }

const byText = (a: string, b: string) => a.localeCompare(b)

interface Workflow {
	id: string
	name: string
	enabled: boolean
}

/** The project has workflows of the person who signed up. */
async function setupTrappedWorkflows(t: ExecutionContext) {
	const trap = await setupTrap(t)
	const { app, pool, post, project, headers } = trap
	const withKey = { authorization: `Bearer ${project.secret}` }
	const withSession = { ...headers, 'x-project-id': project.id }
	await pool.query(
		`insert into domains (project_id, domain, verified_at)
		select id, 'example.com', now() from projects where public_id = $1`,
		[project.id],
	)
	const call = (
		method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
		url: string,
		payload?: object,
		as: object = withKey,
	) => app.inject({ method, url, headers: { ...as }, ...(payload ? { payload } : {}) })
	async function made<T extends object>(method: 'POST' | 'PATCH', url: string, payload: object) {
		const answer = await call(method, url, payload)
		t.true(answer.statusCode < 300, answer.body)
		return answer.json<T>()
	}
	return {
		...trap,
		withKey,
		withSession,
		call,
		/** Enables a workflow that starts with the event `x`, unless it has another trigger. */
		async add(name: string, steps: object[], trigger: object = {}) {
			const { id } = await made<Workflow>('POST', '/workflows', { name, eventName: 'x' })
			for (const step of steps)
				await made('POST', `/workflows/${id}/steps`, { name: 'Step', ...step })
			await made('PATCH', `/workflows/${id}`, { enabled: true, ...trigger })
			return id
		},
		change: (id: string, changes: object) => made('PATCH', `/workflows/${id}`, changes),
		async mailTo() {
			const template = { name: 'T', subject: 's', body: 'b', from: 'a@example.com' }
			const { id: templateId } = await made<{ id: string }>('POST', '/templates', template)
			const recipient = { type: 'CUSTOM', customEmail: 'squatter@example.org' }
			return { type: 'SEND_EMAIL', templateId, config: { recipient } }
		},
		track: () => made('POST', '/events/track', { email: 'c@example.org', event: 'x' }),
		async secure() {
			const token = await trap.resetToken()
			t.is((await post('/auth/reset-password', { token, newPassword })).statusCode, 200)
		},
		/** As the new owner sees it. */
		async seen<T>(url: string) {
			const cookie = cookieOf(await post('/auth/login', { email, password: newPassword }))
			const answer = await call('GET', url, undefined, { cookie, 'x-project-id': project.id })
			t.is(answer.statusCode, 200)
			return answer.json<T>()
		},
		/** Runs the workflows that cancel executions. Returns how many were cancelled. */
		async cancel() {
			const { rows } = await pool.query(
				`select payload from outbox where workflow_type = 'cancelExecutions'`,
			)
			const { cancelExecutionsOf } = cancellingActivities({ pool, relay: { wake: () => {} } })
			let cancelled = 0
			for (const { payload } of rows) {
				const env = new MockActivityEnvironment()
				cancelled += (await env.run(cancelExecutionsOf, payload as Cancelling)) as number
			}
			return cancelled
		},
	}
}

test('a first proof disables workflows that send data of contacts to other addresses, and deletes none', async (t) => {
	const { add, mailTo, secure, seen, pool } = await setupTrappedWorkflows(t)
	await add('calls', [wait, webhook])
	await add('mails', [await mailTo()])
	const schedule = {
		triggerType: 'SCHEDULE',
		triggerConfig: { schedule: '0 9 * * *', timezone: 'UTC' },
	}
	const scheduled = await add('on a schedule', [webhook], schedule)
	await add('harmless', [harmless])
	await pool.query('delete from outbox')
	await secure()
	const { data } = await seen<{ data: Workflow[] }>('/workflows')
	const names = (enabled: boolean) =>
		data.flatMap((one) => (one.enabled === enabled ? [one.name] : [])).toSorted(byText)
	t.deepEqual(names(false), ['calls', 'mails', 'on a schedule'])
	t.deepEqual(names(true), ['harmless'])
	const { rows } = await pool.query(`select payload from outbox where kind = 'schedule'`)
	t.like(rows, [{ payload: { automationId: scheduled } }])
})

test('a first proof cancels the executions that would send data to other addresses', async (t) => {
	const { add, change, track, secure, cancel, seen } = await setupTrappedWorkflows(t)
	const enabled = await add('calls', [wait, webhook])
	const disabled = await add('calls, too', [wait, webhook])
	const kept = await add('harmless', [wait, harmless])
	await track()
	await change(disabled, { enabled: false })
	await secure()
	t.is(await cancel(), 2)
	const executionsOf = async (id: string) =>
		(await seen<{ data: object[] }>(`/workflows/${id}/executions`)).data
	for (const id of [enabled, disabled])
		t.like(await executionsOf(id), [
			{ status: 'CANCELLED', exitReason: 'The account has a new owner' },
		])
	t.like(await executionsOf(kept), [{ status: 'RUNNING' }])
})

test('a first proof cancels executions of an older version that sends data to other addresses', async (t) => {
	const { add, call, track, secure, cancel, seen } = await setupTrappedWorkflows(t)
	const id = await add('calls', [wait, webhook])
	await track()
	const { steps } = (await call('GET', `/workflows/${id}`)).json<{
		steps: { id: string; type: string }[]
	}>()
	const last = steps.find(({ type }) => type === 'WEBHOOK')!.id
	t.is((await call('DELETE', `/workflows/${id}/steps/${last}`)).statusCode, 204)
	await secure()
	t.is(await cancel(), 1)
	t.like(await seen(`/workflows/${id}`), { enabled: false })
})

test('a first proof cancels the executions that are just beginning', async (t) => {
	const { add, call, secure, cancel, pool, project } = await setupTrappedWorkflows(t)
	const id = await add('calls', [wait, webhook])
	await call('POST', '/contacts', { email: 'c@example.org' })
	await secure()
	const starting = await pool.connect()
	try {
		// As it was before: the transaction that writes the event has seen the workflow enabled.
		await pool.query('update automations set enabled = true where id = $1', [id])
		await starting.query('begin')
		await starting.query(
			`insert into events (project_id, name, contact_id)
			select c.project_id, 'x', c.id from contacts c join projects p on p.id = c.project_id
			where p.public_id = $1`,
			[project.id],
		)
		await pool.query('update automations set enabled = false where id = $1', [id])
		const cancelled = cancel()
		await lockWaits(t, pool, 1)
		await starting.query('commit')
		t.is(await cancelled, 1)
	} finally {
		starting.release()
	}
})

for (const caller of ['withKey', 'withSession'] as const)
	test(`while an account is secured, enabling a workflow ${caller} comes too late`, async (t) => {
		const trap = await setupTrappedWorkflows(t)
		const id = await trap.add('calls', [webhook])
		const late = await trap.answerTooLate(() =>
			trap.call('PATCH', `/workflows/${id}`, { enabled: true }, trap[caller]),
		)
		t.is(late.statusCode, 403)
		t.is(late.json().error.code, 'PROJECT_ACCESS_DENIED')
		t.like(await trap.seen(`/workflows/${id}`), { enabled: false })
	})
