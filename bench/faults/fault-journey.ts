import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '../campaign/campaign-run.ts'
import type { Stack } from '../stack.ts'
import type { Caller } from './fault-caller.ts'
import type { Load } from './fault-load.ts'

/** TRIGGER, mail, wait, update, delay, mail: the visits and mails of an execution that reaches the end. */
export const visitsOfJourney = 6
export const mailsOfJourney = 2

const begins = 'signed-up'
const wakes = 'bought'

/** A workflow with every kind of stop except a webhook, created as customers do. */
export async function createJourney(stack: Stack) {
	const template = await api<{ id: string }>(stack, 'POST', '/templates', {
		name: 'Journey',
		subject: 'Step {{ event.step }}',
		body: '<p>Good to see you</p>',
		from: 'journey@example.com',
		type: 'TRANSACTIONAL',
	})
	const { id } = await api<{ id: string }>(stack, 'POST', '/workflows', {
		name: 'Journey',
		eventName: begins,
	})
	const step = (type: string, config: object) =>
		api<{ id: string }>(stack, 'POST', `/workflows/${id}/steps`, { type, name: type, config })
	await step('SEND_EMAIL', { templateId: template.id })
	const wait = await step('WAIT_FOR_EVENT', { eventName: wakes, timeout: 4 })
	const update = await step('UPDATE_CONTACT', { data: { met: true } })
	await api(stack, 'POST', `/workflows/${id}/transitions`, {
		fromStepId: wait.id,
		toStepId: update.id,
		branch: 'timeout',
	})
	await step('DELAY', { amount: 1, unit: 'seconds' })
	await step('SEND_EMAIL', { templateId: template.id })
	await api(stack, 'PATCH', `/workflows/${id}`, { enabled: true })
}

/** A new contact signs up, and some of them buy. */
export async function signUp(caller: Caller, { events }: Load, i: number, buys: boolean) {
	const email = `j-${i}@example.org`
	await track(begins)
	if (!buys) return
	await sleep(1500)
	await track(wakes)

	async function track(event: string) {
		const name = `${event} ${email}`
		events.set(name, null)
		const told = (await caller.post('/v1/track', name, { email, event })) as {
			data: { event: string }
		} | null
		if (told) events.set(name, told.data.event)
	}
}
