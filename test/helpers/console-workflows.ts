import type { ExecutionContext } from 'ava'
import { advance } from '../../activities/automations/advance.ts'
import { setupConsole } from './console.ts'
import { verifyDomain } from './send.ts'

interface Given {
	type: string
	name: string
	config?: object
	templateId?: string
}
interface Made {
	id: string
	name: string
	updatedAt: string
	steps: { id: string; name: string }[]
}

/** The console, a template, and shortcuts that make workflows and move people through them. */
export async function setupWorkflows(
	t: ExecutionContext,
	options?: Parameters<typeof setupConsole>[1],
) {
	const all = await setupConsole(t, options)
	const { app, orm, pool, project, withSecretKey: headers } = all
	await verifyDomain(orm, project.id, 'example.com')
	async function call<Answer>(
		method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
		url: string,
		payload?: object,
	) {
		const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
		t.true(answer.statusCode < 300, `${method} ${url}: ${answer.body}`)
		return (answer.body === '' ? undefined : answer.json()) as Answer
	}
	const template = (name: string) =>
		call<{ id: string }>('POST', '/templates', {
			name,
			subject: name,
			body: '<p>Good to see you</p>',
			from: 'hello@example.com',
			type: 'TRANSACTIONAL',
		})
	const welcome = await template('Welcome')

	/** A workflow of these steps, linked by their names: `Wait timeout > Reminder`. */
	async function workflow(name: string, steps: Given[], ways: string[]) {
		const { id } = await call<Made>('POST', '/workflows', { name, eventName: 'joined' })
		const made = await call<Made>('GET', `/workflows/${id}`)
		const all = [
			{ id: made.steps[0]!.id, type: 'TRIGGER', name: 'Trigger' },
			...steps.map((step) => ({ ...step, id: crypto.randomUUID() })),
		]
		const idOf = (step: string) => all.find((one) => one.name === step)!.id
		await call('PUT', `/workflows/${id}/graph`, {
			steps: all,
			transitions: ways.map((way) => {
				const [start = '', toName = ''] = way.split(' > ')
				const [from = '', branch = null] = start.split(': ')
				return { fromStepId: idOf(from), toStepId: idOf(toName), branch }
			}),
		})
		return { id, idOf, enable: () => call('PATCH', `/workflows/${id}`, { enabled: true }) }
	}

	return {
		...all,
		call,
		template,
		workflow,
		/** A welcome, a wait for an order, and a reminder if none comes. */
		firstOrder: () =>
			workflow(
				'First order',
				[
					{ type: 'SEND_EMAIL', name: 'Welcome mail', templateId: welcome.id },
					{
						type: 'WAIT_FOR_EVENT',
						name: 'Order',
						config: { eventName: 'order', timeout: 259_200 },
					},
					{ type: 'SEND_EMAIL', name: 'Reminder', templateId: welcome.id },
					{ type: 'EXIT', name: 'Bought' },
				],
				[
					'Trigger > Welcome mail',
					'Welcome mail > Order',
					'Order: timeout > Reminder',
					'Order: event > Bought',
				],
			),
		/** Starts the workflow for a new contact, and moves it to its first stop. */
		async enter(workflowId: string, email: string) {
			const contact = await call<{ id: string }>('POST', '/contacts', { email })
			const { id } = await call<{ id: string }>('POST', `/workflows/${workflowId}/executions`, {
				contactId: contact.id,
			})
			await move(id)
			return id
		},
		move,
	}

	function move(executionId: string) {
		const services = {
			pool,
			relay: { wake: () => {} },
			settings: { publicUrl: 'https://mail.example.com' },
		}
		return advance(services, { projectId: project.id, executionId }, 0)
	}
}
