import test from 'ava'
import type { AutomationDefinition, DefinedStep } from '../db/automations/automation-definition.ts'
import { flat, multi, openAutomations } from './helpers/automations.ts'

const configs: Record<string, (object | undefined)[]> = {
	SEND_EMAIL: [{}],
	DELAY: [{ amount: 1, unit: 'days' }, undefined],
	WAIT_FOR_EVENT: [{ eventName: 'order' }, { eventName: 'login', timeout: 5 }, undefined],
	CONDITION: [flat, multi, undefined],
	WEBHOOK: [{ url: 'https://example.org' }, undefined],
	UPDATE_CONTACT: [{ subscribed: true }, {}],
	EXIT: [{}],
}
const branches = [undefined, 'yes', 'no', 'a', 'b', 'default', 'event', 'timeout']

/** The same sequence for the same seed. */
function random(seed: number) {
	let state = seed
	const next = (below: number) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
		return Math.floor((state / 2 ** 32) * below)
	}
	return { next, one: <T>(list: readonly T[]): T => list[next(list.length)]! }
}

/**
 * The properties that the interpreter relies on, checked independently. Returns those that are violated.
 */
function flaws({ trigger, steps, transitions }: AutomationDefinition, templateId: string) {
	const byId = new Map(steps.map((step) => [step.id, step]))
	const found: string[] = []
	const hold = (holds: boolean, what: string) => void (holds || found.push(what))
	const [first, ...others] = steps.filter(({ type }) => type === 'TRIGGER')
	hold(first !== undefined && others.length === 0, 'one trigger')
	hold(
		transitions.some(({ fromStepId }) => fromStepId === first?.id),
		'a first step',
	)
	hold(trigger.type !== 'EVENT' || trigger.eventName !== '', 'an event')
	const ways = new Set<string>()
	for (const { fromStepId, toStepId, branch } of transitions) {
		const from = byId.get(fromStepId)
		const to = byId.get(toStepId)
		hold(from !== undefined && to !== undefined, 'both ends')
		if (!from || !to) continue
		hold(to.type !== 'TRIGGER' && from.type !== 'EXIT' && from !== to, 'a way on')
		hold(outcomes(from).includes(branch), `${from.type} has no ${branch}`)
		ways.add(`${fromStepId} ${branch}`)
	}
	hold(ways.size === transitions.length, 'one way for an outcome')
	for (const step of steps) {
		hold(step.type !== 'SEND_EMAIL' || step.templateId === templateId, 'a template')
		hold(step.type === 'SEND_EMAIL' || step.templateId === null, 'no template')
		hold(isComplete(step), `${step.type} is complete`)
	}
	// A step without a pause is removed once no other such step leads to it.
	const left = new Set(steps.filter(({ type }) => !/DELAY|WAIT/.test(type)).map(({ id }) => id))
	for (let size = -1; size !== left.size;) {
		size = left.size
		for (const id of left)
			if (!transitions.some((way) => way.toStepId === id && left.has(way.fromStepId)))
				left.delete(id)
	}
	hold(left.size === 0, 'a pause in every circle')
	return found
}

function outcomes(step: DefinedStep): (string | null)[] {
	if (step.type === 'WAIT_FOR_EVENT') return ['event', 'timeout']
	if (step.type !== 'CONDITION') return [null]
	return 'mode' in step.config ? ['a', 'b', 'default'] : ['yes', 'no']
}

function isComplete(step: DefinedStep) {
	switch (step.type) {
		case 'SEND_EMAIL':
			return step.config.recipient.type === 'CONTACT'
		case 'DELAY':
			return step.config.amount > 0
		case 'WAIT_FOR_EVENT':
			return step.config.eventName !== '' && step.config.since === 'step'
		case 'CONDITION':
			return 'field' in step.config
		case 'WEBHOOK':
			return step.config.url !== '' && step.config.method === 'POST'
		case 'UPDATE_CONTACT':
			return step.config.subscribed !== undefined
		default:
			return true
	}
}

for (const seed of [1, 2, 3])
	test(`after any edits, an enabled workflow is valid and equals its version (seed ${seed})`, async (t) => {
		const { call, create, template } = await openAutomations(t)
		const { next, one } = random(seed)
		const automation = await create()
		const frozen = new Map<number, string>()
		const outcome = { taken: 0, refused: 0, whileEnabled: 0, versions: 0 }
		type Graph = { steps: { id: string }[]; transitions: { id: string }[]; version: number }

		function edit({ steps, transitions, version }: Graph) {
			const step = () => one(steps).id
			const type = one(Object.keys(configs))
			const config = one(configs[type]!)
			switch (next(10)) {
				case 0:
					return automation.change({ enabled: next(3) > 0 })
				case 1:
				case 2:
				case 3: {
					const rest = { name: type, autoConnect: next(4) > 0 }
					const templateId = type === 'SEND_EMAIL' && next(4) > 0 ? template.id : undefined
					return automation.addStep({ type, config, templateId, ...rest })
				}
				case 4:
					return automation.changeStep(step(), { config: config ?? {} })
				case 5:
					return automation.deleteStep(step(), one(['', '?splice=true']))
				case 6:
				case 7:
					return automation.connect(step(), step(), { branch: one(branches) })
				case 8:
					return transitions.length > 0
						? automation.disconnect(one(transitions).id)
						: automation.change({ triggerConfig: { eventName: one(['signup', 'login']) } })
				default:
					return version
						? call('POST', `/${automation.id}/versions/${1 + next(version)}/restore`)
						: automation.enable()
			}
		}

		/** Removes whatever prevents enabling. */
		async function enable(): Promise<void> {
			const answer = await automation.enable()
			if (answer.statusCode === 200) return
			const { steps } = await automation.get()
			const errors: { field: string }[] = answer.json().error.errors
			for (const id of new Set(errors.map(({ field }) => field.split('.')[1]!)))
				if (id !== steps[0].id) await automation.deleteStep(id)
				else {
					const exit = await automation.step('EXIT', {}, { autoConnect: false })
					await automation.connect(id, exit.id)
				}
			return enable()
		}

		for (let round = 0; round < 60; round++) {
			const before = await automation.get()
			if (!before.enabled && round % 4 === 0) await enable()
			// Some of the edits run at once.
			const edits = Array.from({ length: 1 + next(3) }, () => edit(before))
			for (const { statusCode, body } of await Promise.all(edits)) {
				t.true(statusCode < 500, body)
				outcome[statusCode < 300 ? 'taken' : 'refused']++
			}
			const now = await automation.get()
			if (!now.enabled) continue
			outcome.whileEnabled++
			const version = await call('GET', `/${automation.id}/versions/${now.version}`)
			const { definition } = version.json() as { definition: AutomationDefinition }
			t.deepEqual(flaws(definition, template.id), [])
			t.deepEqual(
				definition.steps.map(({ id }) => id),
				now.steps.map(({ id }: { id: string }) => id).toSorted(),
			)
			t.is(definition.transitions.length, now.transitions.length)
			t.deepEqual(definition.trigger, { type: 'EVENT', ...now.triggerConfig })
			const text = JSON.stringify(definition)
			t.is(frozen.get(now.version) ?? text, text)
			frozen.set(now.version, text)
		}
		outcome.versions = frozen.size
		t.log(outcome)
		for (const count of Object.values(outcome)) t.true(count > 3, JSON.stringify(outcome))
	})

test('required parts of an enabled workflow can’t be deleted, and the document says so', async (t) => {
	const { app, create } = await openAutomations(t)
	const automation = await create()
	const exit = await automation.step('EXIT')
	t.is((await automation.enable()).statusCode, 200)
	const before = await automation.get()
	t.is((await automation.deleteStep(exit.id)).statusCode, 422)
	t.is((await automation.disconnect(before.transitions[0].id)).statusCode, 422)
	t.deepEqual(await automation.get(), before)
	const { paths } = (await app.inject('/openapi.json')).json()
	for (const [path, method] of [
		['steps/{stepId}', 'delete'],
		['transitions/{transitionId}', 'delete'],
		['versions/{version}/restore', 'post'],
	] as const)
		t.truthy(paths[`/workflows/{id}/${path}`][method].responses['422'], path)
})
