import test from 'ava'
import { randomUUID } from 'node:crypto'
import { fault, flat, multi, openAutomations } from './helpers/automations.ts'
import { plan } from './helpers/segments.ts'

/** Valid configurations, with the stored form if it differs. */
const sound: [string, object, object?][] = [
	['SEND_EMAIL', {}],
	['SEND_EMAIL', { recipient: { type: 'CONTACT' } }],
	[
		'SEND_EMAIL',
		{ recipient: { type: 'CONTACT', customEmail: null } },
		{ recipient: { type: 'CONTACT' } },
	],
	[
		'SEND_EMAIL',
		{ recipient: { type: 'CUSTOM', customEmail: ' Boss@Example.com' } },
		{ recipient: { type: 'CUSTOM', customEmail: 'boss@example.com' } },
	],
	['SEND_EMAIL', { recipient: { type: 'CUSTOM', customEmail: '{{ Seller }}' } }],
	['SEND_EMAIL', { recipient: { type: 'CUSTOM', customEmail: '{{Seller}}@Shop.test' } }],
	[
		'SEND_EMAIL',
		{ recipient: { type: 'CUSTOM', customEmail: '{% if vip %}vip{% endif %}@shop.test' } },
	],
	['DELAY', { amount: 1.5, unit: 'hours' }],
	['DELAY', { amount: 365, unit: 'days' }],
	['DELAY', { amount: 31_536_000, unit: 'seconds' }],
	['WAIT_FOR_EVENT', { eventName: ' order ' }, { eventName: 'order' }],
	['WAIT_FOR_EVENT', { eventName: 'email.open', timeout: 157_680_000, since: 'start' }],
	['WAIT_FOR_EVENT', { eventName: 'order', timeout: null }, { eventName: 'order' }],
	['CONDITION', flat],
	['CONDITION', { field: 'steps.Ask the shop.response.a', operator: 'notExists' }],
	['CONDITION', { field: 'contact.email', operator: 'equals', value: null }],
	['CONDITION', multi],
	['CONDITION', plan('pro')],
	['WEBHOOK', { url: 'https://example.org/hook?id={{ id }}' }],
	['WEBHOOK', { url: '{{ event.url }}', method: 'PUT', retryFor: 0, continueOnError: true }],
	[
		'WEBHOOK',
		{ url: 'http://example.org', headers: { 'X-A': '{{ id }}' }, body: { a: ['{{ email }}', 5] } },
	],
	[
		'WEBHOOK',
		{ url: 'http://example.org', method: 'GET', body: null },
		{ url: 'http://example.org', method: 'GET' },
	],
	['UPDATE_CONTACT', {}],
	['UPDATE_CONTACT', { data: { plan: '{{ event.plan }}', old: null }, subscribed: false }],
	[
		'UPDATE_CONTACT',
		{ updates: { a: 1 }, subscriptionAction: 'subscribe' },
		{ data: { a: 1 }, subscribed: true },
	],
	['UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }, { subscribed: false }],
	['UPDATE_CONTACT', { subscriptionAction: 'none' }, {}],
	['EXIT', {}],
	['EXIT', { reason: 'Bought' }],
]

test('a valid configuration is stored under its own names and without nulls', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	for (const [type, config, kept = config] of sound) {
		const step = await automation.step(type, config, { autoConnect: false })
		t.deepEqual(step.config, kept)
		const other = await automation.step(type, undefined, { autoConnect: false })
		t.deepEqual(other.config, {})
		const changed = await automation.changeStep(other.id, { config })
		t.is(changed.statusCode, 200, changed.body)
		t.deepEqual(changed.json().config, kept)
	}
})

const long = 'x'.repeat(70_000)
const webhook = (changes: object) => ({ url: 'https://example.org', ...changes })
const branched = (...changes: object[]) => ({
	...multi,
	branches: multi.branches.map((branch, index) => ({ ...branch, ...changes[index] })),
})

const faulty: [string, object, string][] = [
	['SEND_EMAIL', { recipients: {} }, 'recipients unrecognized_keys'],
	['SEND_EMAIL', { recipient: 'CONTACT' }, 'recipient invalid_type'],
	['SEND_EMAIL', { recipient: {} }, 'recipient.type required'],
	['SEND_EMAIL', { recipient: { type: 'ALL' } }, 'recipient.type invalid_enum_value'],
	['SEND_EMAIL', { recipient: { type: 'CUSTOM' } }, 'recipient.customEmail required'],
	[
		'SEND_EMAIL',
		{ recipient: { type: 'CUSTOM', customEmail: 'boss' } },
		'recipient.customEmail invalid_string',
	],
	...['', '{boss}', '{{ boss', '{% if boss %}a@b.ch', '{{boss@shop.test'].map(
		(customEmail): [string, object, string] => [
			'SEND_EMAIL',
			{ recipient: { type: 'CUSTOM', customEmail } },
			`recipient.customEmail ${/\{[{%]/.test(customEmail) ? 'template_syntax' : 'invalid_string'}`,
		],
	),
	[
		'SEND_EMAIL',
		{ recipient: { type: 'CUSTOM', customEmail: 5 } },
		'recipient.customEmail invalid_type',
	],
	[
		'SEND_EMAIL',
		{ recipient: { type: 'CONTACT', mail: 'a@b.ch' } },
		'recipient.mail unrecognized_keys',
	],
	['SEND_EMAIL', { templateId: 'welcome' }, 'templateId invalid_string'],
	['DELAY', {}, 'amount required'],
	['DELAY', { amount: 1 }, 'unit required'],
	['DELAY', { amount: '1', unit: 'days' }, 'amount invalid_type'],
	['DELAY', { amount: 0, unit: 'days' }, 'amount too_small'],
	['DELAY', { amount: 365.1, unit: 'days' }, 'amount too_big'],
	['DELAY', { amount: 525_601, unit: 'minutes' }, 'amount too_big'],
	['DELAY', { amount: 1, unit: 'weeks' }, 'unit invalid_enum_value'],
	['DELAY', { amount: 1, unit: 'days', untis: 1 }, 'untis unrecognized_keys'],
	['WAIT_FOR_EVENT', {}, 'eventName required'],
	['WAIT_FOR_EVENT', { eventName: ' ' }, 'eventName too_small'],
	['WAIT_FOR_EVENT', { eventName: 'x'.repeat(256) }, 'eventName too_big'],
	['WAIT_FOR_EVENT', { eventName: 'a', timeout: 0 }, 'timeout too_small'],
	['WAIT_FOR_EVENT', { eventName: 'a', timeout: 157_680_001 }, 'timeout too_big'],
	['WAIT_FOR_EVENT', { eventName: 'a', timeout: '1' }, 'timeout invalid_type'],
	['WAIT_FOR_EVENT', { eventName: 'a', since: 'ever' }, 'since invalid_enum_value'],
	['WAIT_FOR_EVENT', { eventName: 'a', timeuot: 5 }, 'timeuot unrecognized_keys'],
	['CONDITION', {}, 'field required'],
	['CONDITION', { field: 'plan', operator: 'exists' }, 'field invalid_string'],
	['CONDITION', { field: 'data.', operator: 'exists' }, 'field invalid_string'],
	['CONDITION', { field: 'data.a', operator: 'within', value: 1 }, 'operator invalid_enum_value'],
	['CONDITION', { field: 'data.a', operator: 'equals' }, 'value required'],
	['CONDITION', { field: 'data.a', operator: 'contains', value: 5 }, 'value invalid_type'],
	['CONDITION', { field: 'data.a', operator: 'lessThan', value: null }, 'value invalid_type'],
	['CONDITION', { ...flat, valeu: 1 }, 'valeu unrecognized_keys'],
	['CONDITION', { ...multi, mode: 'many' }, 'mode invalid_enum_value'],
	['CONDITION', { ...multi, branches: [] }, 'branches too_small'],
	[
		'CONDITION',
		{
			...multi,
			branches: Array.from({ length: 21 }, (_, id) => ({ ...multi.branches[1], id: `${id}` })),
		},
		'branches too_big',
	],
	['CONDITION', branched({ id: '' }), 'branches.0.id too_small'],
	['CONDITION', branched({}, { id: 'a' }), 'branches.1.id custom'],
	['CONDITION', branched({}, { id: 'default' }), 'branches.1.id custom'],
	['CONDITION', branched({ value: undefined }), 'branches.0.value required'],
	['CONDITION', branched({ label: 'A' }), 'branches.0.label unrecognized_keys'],
	['CONDITION', { logic: 'AND', groups: [] }, 'groups too_small'],
	['CONDITION', { logic: 'XOR', groups: plan('a').groups }, 'logic invalid_enum_value'],
	['CONDITION', { ...plan('a'), mode: 'tree' }, 'mode unrecognized_keys'],
	[
		'CONDITION',
		{ logic: 'AND', groups: [{ filters: [{ field: 'data.a', operator: 'is' }] }] },
		'groups.0.filters.0.operator invalid_enum_value',
	],
	[
		'CONDITION',
		{
			logic: 'AND',
			groups: [{ filters: [{ field: `segment.${randomUUID()}`, operator: 'memberOfSegment' }] }],
		},
		'groups.0.filters.0.field custom',
	],
	['WEBHOOK', {}, 'url required'],
	['WEBHOOK', webhook({ url: 'example.org' }), 'url invalid_string'],
	['WEBHOOK', webhook({ url: 'ftp://example.org' }), 'url invalid_string'],
	['WEBHOOK', webhook({ url: 'javascript:{{ id }}' }), 'url invalid_string'],
	['WEBHOOK', webhook({ url: 'https://a:b@example.org' }), 'url custom'],
	['WEBHOOK', webhook({ url: 'https://example.org/{{ id' }), 'url template_syntax'],
	['WEBHOOK', webhook({ method: 'TRACE' }), 'method invalid_enum_value'],
	['WEBHOOK', webhook({ method: 'GET', body: {} }), 'body custom'],
	['WEBHOOK', webhook({ headers: { 'X A': 'a' } }), 'headers.X A custom'],
	['WEBHOOK', webhook({ headers: { A: 'a\r\nB: b' } }), 'headers.A invalid_string'],
	['WEBHOOK', webhook({ headers: { A: 5 } }), 'headers.A invalid_type'],
	['WEBHOOK', webhook({ headers: { Host: 'a' } }), 'headers.Host custom'],
	[
		'WEBHOOK',
		webhook({ headers: { 'Webhook-Signature': 'v1,a' } }),
		'headers.Webhook-Signature custom',
	],
	['WEBHOOK', webhook({ headers: { A: '{% if %}' } }), 'headers.A template_syntax'],
	['WEBHOOK', webhook({ body: { a: [{ b: '{{' }] } }), 'body.a.0.b template_syntax'],
	['WEBHOOK', webhook({ retryFor: -1 }), 'retryFor too_small'],
	['WEBHOOK', webhook({ retryFor: 604_801 }), 'retryFor too_big'],
	['WEBHOOK', webhook({ continueOnError: 'yes' }), 'continueOnError invalid_type'],
	['WEBHOOK', webhook({ retires: 3 }), 'retires unrecognized_keys'],
	['UPDATE_CONTACT', { data: [] }, 'data invalid_type'],
	['UPDATE_CONTACT', { data: null }, 'data invalid_type'],
	['UPDATE_CONTACT', { data: { locale: 5 } }, 'data.locale invalid_type'],
	['UPDATE_CONTACT', { data: { ['k'.repeat(101)]: 1 } }, `data.${'k'.repeat(101)} too_big`],
	['UPDATE_CONTACT', { updates: { a: '{{' } }, 'updates.a template_syntax'],
	['UPDATE_CONTACT', { data: {}, updates: {} }, 'updates custom'],
	['UPDATE_CONTACT', { subscribed: true, subscriptionAction: 'none' }, 'subscriptionAction custom'],
	['UPDATE_CONTACT', { subscribed: 'true' }, 'subscribed invalid_type'],
	['UPDATE_CONTACT', { subscriptionAction: 'toggle' }, 'subscriptionAction invalid_enum_value'],
	['UPDATE_CONTACT', { date: {} }, 'date unrecognized_keys'],
	['EXIT', { reason: 5 }, 'reason invalid_type'],
	['EXIT', { reason: 'x'.repeat(501) }, 'reason too_big'],
	['EXIT', { raeson: 'a' }, 'raeson unrecognized_keys'],
]

test('each fault of a configuration is refused by its field, when it is added and when it is changed', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const steps = new Map<string, string>()
	for (const [type, config, expected] of faulty) {
		const added = await automation.addStep({ type, name: 'Step', config })
		t.is(added.statusCode, 422, expected)
		t.is(fault(added), `config.${expected}`)
		if (!steps.has(type))
			steps.set(type, (await automation.step(type, undefined, { autoConnect: false })).id)
		const changed = await automation.changeStep(steps.get(type)!, { config })
		t.is(changed.statusCode, 422, expected)
		t.is(fault(changed), `config.${expected}`)
	}
	const { steps: kept } = await automation.get()
	t.is(kept.length, 1 + steps.size)
	for (const { config } of kept) t.deepEqual(config, {})
	const heavy = webhook({ body: long })
	t.is(
		fault(await automation.addStep({ type: 'WEBHOOK', name: 'Step', config: heavy })),
		'config too_big',
	)
})
