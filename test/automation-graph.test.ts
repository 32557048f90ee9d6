import test from 'ava'
import { cronProblem } from '../api/automations/cron.ts'
import { stepTypes } from '../db/automations/automation-definition.ts'
import type { StepRecord, TransitionRecord } from '../db/automations/automation-graph-records.ts'
import { branchesOf, graphFaults, unreachableSteps } from '../db/automations/automation-graph.ts'
import type { AutomationRecord } from '../db/automations/automation-records.ts'

const now = new Date()
const times = { createdAt: now, updatedAt: now }
const automation: AutomationRecord = {
	id: 'a',
	projectId: 'p',
	name: 'A',
	description: null,
	enabled: true,
	triggerType: 'EVENT',
	eventName: 'signup',
	schedule: null,
	timezone: null,
	scheduledSince: now,
	segmentId: null,
	allowReentry: false,
	currentVersion: null,
	...times,
}
const config = { amount: 1, eventName: 'a', field: 'data.a', url: 'https://example.org' }

const step = (id: number, type: StepRecord['type']): StepRecord => ({
	id: String(id),
	automationId: 'a',
	type,
	name: `Step ${id}`,
	x: 0,
	y: 0,
	config,
	templateId: type === 'SEND_EMAIL' ? 't' : null,
	...times,
})
const way = (from: StepRecord, to: StepRecord, branch: string | null): TransitionRecord => ({
	id: `${from.id}-${branch}`,
	fromStepId: from.id,
	toStepId: to.id,
	branch,
	priority: 0,
	...times,
})

/** Valid except for circles and unreachable steps. The same for the same seed. */
function randomGraph(seed: number) {
	let state = seed
	const next = (below: number) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
		return Math.floor((state / 2 ** 32) * below)
	}
	const types = stepTypes.filter((type) => type !== 'TRIGGER')
	const length = 2 + next(9)
	const steps = Array.from({ length }, (_, id) =>
		step(id, id === 0 ? 'TRIGGER' : types[next(types.length)]!),
	)
	const transitions = steps.flatMap((from) =>
		from.type === 'EXIT'
			? []
			: (branchesOf(from) ?? [null])
					.filter(() => from.type === 'TRIGGER' || next(4) > 0)
					.map((branch) => way(from, steps[1 + next(length - 1)]!, branch)),
	)
	return { steps, transitions }
}

/** Which steps can be reached from which, in at least one move. */
function closure(steps: StepRecord[], transitions: TransitionRecord[]) {
	const isNext = steps.map(({ id: from }) =>
		steps.map(({ id: to }) =>
			transitions.some((each) => each.fromStepId === from && each.toStepId === to),
		),
	)
	for (const middle of steps.keys())
		for (const from of steps.keys())
			for (const to of steps.keys())
				isNext[from]![to] ||= isNext[from]![middle]! && isNext[middle]![to]!
	return isNext
}

test('in random graphs, circles without a pause are refused and unreachable steps are found', (t) => {
	const count = { circles: 0, none: 0, unreachable: 0 }
	for (let seed = 1; seed <= 3000; seed++) {
		const { steps, transitions } = randomGraph(seed)
		const hasty = steps.filter(({ type }) => type !== 'DELAY' && type !== 'WAIT_FOR_EVENT')
		const hastyWays = closure(hasty, transitions)
		const hasCircle = hasty.some((_, index) => hastyWays[index]![index])
		const faults = graphFaults({ automation, steps, transitions })
		t.deepEqual(
			faults.map(({ message }) => /loop/.test(message)),
			hasCircle ? [true] : [],
			`seed ${seed}`,
		)
		count[hasCircle ? 'circles' : 'none']++
		const fromTrigger = closure(steps, transitions)[0]!
		const unreachable = steps.filter((_, index) => index > 0 && !fromTrigger[index])
		t.deepEqual(unreachableSteps({ steps, transitions }), unreachable, `seed ${seed}`)
		if (unreachable.length > 0) count.unreachable++
	}
	for (const each of Object.values(count)) t.true(each > 300, JSON.stringify(count))
})

test('the message names the steps of the circle, which each lead to the next', (t) => {
	for (let seed = 1; seed <= 500; seed++) {
		const { steps, transitions } = randomGraph(seed)
		const [fault] = graphFaults({ automation, steps, transitions })
		if (!fault) continue
		const ids = [...fault.message.matchAll(/"Step (\d+)"/g)].map(([, id]) => id!)
		t.true(ids.length > 1)
		t.is(ids[0], ids.at(-1))
		for (const [index, id] of ids.slice(1).entries())
			t.true(transitions.some((each) => each.fromStepId === ids[index] && each.toStepId === id))
	}
})

test('a chain of five hundred steps, and a circle of as many, are looked through', (t) => {
	const steps = Array.from({ length: 500 }, (_, id) => step(id, id ? 'UPDATE_CONTACT' : 'TRIGGER'))
	const transitions = steps.slice(1).map((to, index) => way(steps[index]!, to, null))
	t.deepEqual(graphFaults({ automation, steps, transitions }), [])
	const circle = [...transitions, way(steps[499]!, steps[1]!, null)]
	t.is(graphFaults({ automation, steps, transitions: circle }).length, 1)
	t.is(graphFaults({ automation, steps: [...steps, step(500, 'EXIT')], transitions }).length, 1)
})

test('cron expressions are read as Temporal reads them', (t) => {
	const sound = [
		'* * * * *',
		'0 9 * * MON-FRI',
		'*/15 0-23/2 1,15 jan,Jul *',
		'0 0 29 2 *',
		'5/10 0 31 january 0-7',
		'0 0 13 * fri',
		'  0  0 * * 7'.trim(),
		'@hourly',
		'@weekly',
		'@annually',
	]
	for (const text of sound) t.is(cronProblem(text), undefined, text)
	const faulty = [
		'',
		'daily',
		'@every 5m',
		'@reboot',
		'TZ=UTC 0 0 * * *',
		'* * * *',
		'0 * * * * *',
		'60 * * * *',
		'* 24 * * *',
		'* * 0 * *',
		'* * 32 * *',
		'* * * 13 *',
		'* * * 0 *',
		'* * * * 8',
		'*/0 * * * *',
		'1-2-3 * * * *',
		'5-1 * * * *',
		'* * * * fri-mon',
		'1,,2 * * * *',
		'*/5/2 * * * *',
		'1.5 * * * *',
		'-1 * * * *',
		'+1 * * * *',
		'* * * ja *',
		'? * * * *',
		'0 0 L * *',
		'0 0 30 2 *',
		'0 0 31 4,6,9,11 *',
	]
	for (const text of faulty) t.is(typeof cronProblem(text), 'string', text)
})
