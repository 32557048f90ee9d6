import test from 'ava'
import { cpuMeter } from './helpers/cpu.ts'
import { factAt, type Facts, holds } from '../db/automations/automation-comparison.ts'
import {
	type AutomationDefinition,
	type DefinedStep,
	flatOperators,
} from '../db/automations/automation-definition.ts'
import {
	type Act,
	hopLimit,
	nextAct,
	type Position,
} from '../db/automations/automation-interpreter.ts'

const facts: Facts = {
	contact: {
		id: 'c',
		email: 'ann@example.org',
		subscribed: true,
		createdAt: '2026-05-01T10:00:00.000Z',
		data: { plan: 'pro', seats: 5, since: '2026-04-30', 'a.b': 1, nothing: null },
	},
	data: { plan: 'pro' },
	event: { amount: 42, tags: ['x'] },
	steps: { 'Ask the shop. Now': { statusCode: 200, response: { ok: true } } },
}

test('a field is found by the longest name that is there, and contact data without saying data', (t) => {
	t.is(factAt(facts, 'contact.data.plan'), 'pro')
	t.is(factAt(facts, 'contact.plan'), 'pro')
	t.is(factAt(facts, 'contact.data.a.b'), 1)
	t.is(factAt(facts, 'steps.Ask the shop. Now.statusCode'), 200)
	t.is(factAt(facts, 'steps.Ask the shop. Now.response.ok'), true)
	t.is(factAt(facts, 'event.__proto__.polluted'), undefined)
	t.is(factAt(facts, 'event.constructor'), undefined)
	t.is(factAt(facts, 'nowhere.at.all'), undefined)
})

const cases: [
	field: string,
	operator: (typeof flatOperators)[number],
	value: unknown,
	yes: boolean,
][] = [
	['event.amount', 'equals', 42, true],
	['event.amount', 'equals', '42', false],
	['event.amount', 'notEquals', '42', true],
	['event.amount', 'greaterThan', 41.5, true],
	['event.amount', 'greaterThan', '41', false],
	['event.amount', 'lessThanOrEqual', 42, true],
	['event.missing', 'equals', null, false],
	['event.missing', 'notEquals', 1, false],
	['event.missing', 'notContains', 'x', false],
	['event.missing', 'notExists', undefined, true],
	['contact.data.nothing', 'notExists', undefined, true],
	['contact.data.nothing', 'equals', null, true],
	['contact.data.nothing', 'exists', undefined, false],
	['contact.email', 'equals', 'ANN@example.org', true],
	['contact.email', 'contains', '@EXAMPLE', true],
	['contact.subscribed', 'equals', 'true', true],
	['contact.subscribed', 'notEquals', true, false],
	['contact.createdAt', 'equals', '2026-05-01', true],
	['contact.createdAt', 'equals', '2026-05-02', false],
	['contact.createdAt', 'lessThan', '2026-05-01T12:00:00+0200', false],
	['contact.createdAt', 'lessThanOrEqual', '2026-05-01T12:00:00+0200', true],
	['contact.data.since', 'equals', '2026-04-30', true],
	['contact.data.since', 'lessThan', '2026-05-01', true],
	['data.plan', 'contains', 'PRO', false],
	['data.plan', 'contains', 'r', true],
	['data.plan', 'greaterThan', 'Pro', true],
	['event.tags', 'equals', ['x'], true],
	['event.tags', 'contains', 'x', true],
	['event.tags', 'contains', 'y', false],
	['event.tags', 'notContains', 'y', true],
	['event.tags', 'notContains', 'x', false],
]

for (const [field, operator, value, yes] of cases)
	test(`${field} ${operator} ${JSON.stringify(value)} is ${yes}`, (t) => {
		t.is(holds({ field, operator, value }, facts), yes)
	})

test('of several branches the first that is true is taken, else default', (t) => {
	const branches = [
		{ id: 'small', name: 'Small', operator: 'lessThan' as const, value: 10 },
		{ id: 'large', name: 'Large', operator: 'greaterThan' as const, value: 40 },
		{ id: 'any', name: 'Any', operator: 'exists' as const },
	]
	const choose = (amount: unknown) => {
		const config = { mode: 'multi' as const, field: 'event.amount', branches }
		const definition = build([['CONDITION', config]], [])
		const act = nextAct(definition, { at: 'step', stepId: 's1' }, { event: { amount } }, 0)
		return act.do === 'branch' ? act.branch : act
	}
	t.is(choose(5), 'small')
	t.is(choose(42), 'large')
	t.is(choose(20), 'any')
	t.is(choose(undefined), 'default')
})

test('a year of days is exact to the millisecond', (t) => {
	const definition = build([['DELAY', { amount: 365, unit: 'days' }]], [])
	t.like(nextAct(definition, { at: 'step', stepId: 's1' }, {}, 0), {
		do: 'sleep',
		ms: 365 * 86_400_000,
	})
})

test('a delay that rounds to nothing takes a second, so that no circle turns without a pause', (t) => {
	const definition = build([['DELAY', { amount: 0.0001, unit: 'seconds' }]], [])
	t.like(nextAct(definition, { at: 'step', stepId: 's1' }, {}, 0), { do: 'sleep', ms: 1000 })
})

test('a condition on a deep tree with dots in its names is decided soon', (t) => {
	const tree = (depth: number): object =>
		depth === 0 ? { b: 1 } : { a: tree(depth - 1), 'a.a': tree(depth - 1) }
	const field = `data${'.a'.repeat(248)}`
	const data = tree(11)
	const condition = { field, operator: 'equals', value: 'x' } as const
	const branches = Array.from({ length: 20 }, (_, i) => ({
		...condition,
		id: `b${i}`,
		name: `${i}`,
	}))
	const definition = build([['CONDITION', { mode: 'multi', field, branches }]], [])
	holds(condition, { data })
	const spentMs = cpuMeter()
	t.like(nextAct(definition, { at: 'step', stepId: 's1' }, { data }, 0), { branch: 'default' })
	t.true(spentMs() < 50)
})

test('a wait ends by its event or its time-out; an unnamed transition follows the event', (t) => {
	const config = { eventName: 'paid', timeout: 60, since: 'step' }
	const exits: [string, object][] = [
		['WAIT_FOR_EVENT', config],
		['EXIT', { reason: null }],
		['EXIT', { reason: null }],
	]
	const after = (ways: [number, number, string | null][], branch: string) => {
		const act = nextAct(build(exits, ways), { at: 'done', stepId: 's1', branch }, {}, 0)
		return 'step' in act ? act.step?.id : act.do
	}
	const both: [number, number, string][] = [
		[1, 2, 'event'],
		[1, 3, 'timeout'],
	]
	t.is(after(both, 'event'), 's2')
	t.is(after(both, 'timeout'), 's3')
	t.is(after([[1, 2, null]], 'event'), 's2')
	t.is(after([[1, 2, null]], 'timeout'), 'complete')
	t.is(after([[1, 2, 'event']], 'timeout'), 'complete')
})

test('in random graphs, valid or not, every act names one place and no walk is endless', (t) => {
	const random = generator(20_261_121)
	const ends = new Set<string>()
	for (let graph = 0; graph < 3000; graph++) {
		const definition = randomDefinition(random)
		const { acts, end } = walk(definition, random)
		ends.add(end.do)
		t.true(acts <= 12 * hopLimit)
		t.true(['complete', 'exit', 'fail', 'stopped'].includes(end.do))
		if (end.do === 'fail') t.regex(end.error, /^(LoopDetected|StepMissing)/)
	}
	t.deepEqual([...ends].sort(), ['complete', 'exit', 'fail', 'stopped'])
})

test('the same definition, position and facts give the same act', (t) => {
	const random = generator(7)
	for (let graph = 0; graph < 500; graph++) {
		const definition = randomDefinition(random)
		const before = structuredClone(definition)
		for (const { id } of definition.steps) {
			const position: Position = { at: 'done', stepId: id, branch: null }
			t.deepEqual(nextAct(definition, position, facts, 0), nextAct(before, position, facts, 0))
		}
		t.deepEqual(definition, before)
	}
})

type Random = () => number

/** Time passes after these acts. */
const stopTypes: readonly string[] = ['DELAY', 'WAIT_FOR_EVENT', 'WEBHOOK']

/** Follows the acts until the walk ends, or has stopped ten times. */
function walk(definition: AutomationDefinition, random: Random) {
	let position: Position = { at: 'start' }
	let hops = 0
	let stops = 0
	for (let acts = 1; ; acts++) {
		const act: Act = nextAct(definition, position, facts, hops)
		if (act.do === 'complete' || act.do === 'exit' || act.do === 'fail')
			return { acts, end: act as { do: string; error: string } }
		hops++
		if (stopTypes.includes(act.step.type)) {
			if (++stops === 10) return { acts, end: { do: 'stopped', error: '' } }
			hops = 0
		}
		position = { at: 'done', stepId: act.step.id, branch: branchOf(act, random) }
	}
}

function branchOf(act: Act, random: Random) {
	if (act.do === 'branch') return act.branch
	if (act.do === 'ask') return random() < 0.5 ? 'yes' : 'no'
	if (act.do === 'wait') return random() < 0.5 ? 'event' : 'timeout'
	return null
}

const configs: [DefinedStep['type'], object][] = [
	['SEND_EMAIL', { recipient: { type: 'CONTACT' } }],
	['UPDATE_CONTACT', { data: {}, subscribed: null }],
	['DELAY', { amount: 2, unit: 'hours' }],
	['WAIT_FOR_EVENT', { eventName: 'paid', timeout: 60, since: 'step' }],
	['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
	['CONDITION', { logic: 'AND', groups: [{ filters: [] }] }],
	['WEBHOOK', { url: 'https://example.com', method: 'POST', headers: {}, body: null }],
	['EXIT', { reason: null }],
]

function randomDefinition(random: Random) {
	const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]!
	const steps = Array.from({ length: Math.floor(random() * 8) }, () => pick(configs))
	const place = () => Math.floor(random() * (steps.length + 1.2))
	const branches = [null, null, 'yes', 'no', 'event', 'timeout', 'default']
	const ways = Array.from(
		{ length: Math.floor(random() * 3 * (steps.length + 1)) },
		(): [number, number, string | null] => [place(), place(), pick(branches)],
	)
	return build(steps, ways)
}

/** Step 0 is the trigger. */
function build(
	steps: [type: string, config: object][],
	ways: [from: number, to: number, branch: string | null][],
) {
	return {
		trigger: { type: 'MANUAL' },
		allowReentry: true,
		steps: [['TRIGGER', {}] as const, ...steps].map(([type, config], i) => ({
			id: `s${i}`,
			type,
			name: `${type} ${i}`,
			config,
			templateId: null,
		})),
		transitions: ways.map(([from, to, branch], priority) => ({
			fromStepId: `s${from}`,
			toStepId: `s${to}`,
			branch,
			priority,
		})),
	} as AutomationDefinition
}

/** The same numbers each time, so that a failure can be repeated. */
function generator(seed: number): Random {
	let state = seed
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
		return (state >>> 0) / 2 ** 32
	}
}
