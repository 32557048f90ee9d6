import type { ExecutionContext } from 'ava'
import { Domain } from '../../db/domains/domain.ts'
import { Template } from '../../db/templates/template.ts'
import { setup } from './app.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A CONDITION with the branches yes and no, and one with branches of its own. */
export const flat = { field: 'data.plan', operator: 'equals', value: 'pro' }
export const multi = {
	mode: 'multi',
	field: 'event.total',
	branches: [
		{ id: 'a', name: 'A', operator: 'equals', value: 1 },
		{ id: 'b', name: 'B', operator: 'exists' },
	],
}

/** An API with its own database, and shortcuts for tests of automations. */
export async function openAutomations(t: ExecutionContext) {
	const opened = await setup(t)
	const { app, orm, project, withSecretKey: headers } = opened
	const em = orm.em.fork()
	em.create(Domain, { projectId: project.id, domain: 'example.com', verifiedAt: new Date() })
	const template = em.create(Template, {
		projectId: project.id,
		name: 'Welcome',
		subject: 'Hello',
		body: '<p>Hello</p>',
		from: 'hello@example.com',
	})
	await em.flush()
	const call = (method: Method, path: string, body?: object) =>
		app.inject({ method, url: `/workflows${path}`, headers, ...(body ? { body } : {}) })
	const ok = async (method: Method, path: string, body?: object) => {
		const answer = await call(method, path, body)
		t.true(answer.statusCode < 300, `${method} ${path}: ${answer.body}`)
		return answer.body === '' ? undefined : answer.json()
	}

	/** Creates an automation for a signup, with its trigger. */
	const create = async (changes: object = {}) => {
		const { id } = await ok('POST', '', { name: 'Onboarding', eventName: 'signup', ...changes })
		return open(id)
	}
	function open(id: string) {
		const get = () => ok('GET', `/${id}`)
		return {
			id,
			get,
			change: (body: object) => call('PATCH', `/${id}`, body),
			enable: () => call('PATCH', `/${id}`, { enabled: true }),
			step: (type: string, config?: object, rest: object = {}) =>
				ok('POST', `/${id}/steps`, { type, name: type, ...(config ? { config } : {}), ...rest }),
			addStep: (body: object) => call('POST', `/${id}/steps`, body),
			changeStep: (stepId: string, body: object) => call('PATCH', `/${id}/steps/${stepId}`, body),
			deleteStep: (stepId: string, query = '') => call('DELETE', `/${id}/steps/${stepId}${query}`),
			connect: (fromStepId: string, toStepId: string, rest: object = {}) =>
				call('POST', `/${id}/transitions`, { fromStepId, toStepId, ...rest }),
			disconnect: (transitionId: string) => call('DELETE', `/${id}/transitions/${transitionId}`),
			versions: () => ok('GET', `/${id}/versions`),
			/** The transitions between its steps, by name: "Trigger > DELAY". */
			ways: async () => {
				const { steps, transitions } = await get()
				const name = (stepId: string) =>
					steps.find((step: { id: string }) => step.id === stepId)?.name as string
				const line = (way: { fromStepId: string; toStepId: string; branch: string | null }) =>
					`${name(way.fromStepId)}${way.branch === null ? '' : ` ${way.branch}`} > ${name(way.toStepId)}`
				return (transitions as Parameters<typeof line>[0][]).map(line).toSorted()
			},
		}
	}
	return { ...opened, headers, template, call, ok, create, open }
}

/** The first error of a refusal, in short form. */
export const fault = (answer: { json(): unknown }) => {
	const { error } = answer.json() as { error: { errors?: { field: string; code: string }[] } }
	const [first] = error.errors ?? []
	return first && `${first.field} ${first.code}`
}
