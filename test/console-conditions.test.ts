import test from 'ava'
import { familyOperators, fieldOf } from '../db/conditions/condition.ts'
import { familyOf, isComplete, operatorsOf } from '../console/conditions/condition.ts'
import { readCondition } from '../console/conditions/condition-reading.ts'
import { sentenceOf } from '../console/conditions/condition-words.ts'
import type { Condition } from '../client/index.ts'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'

const id = '0199d3f4-7e00-7000-8000-000000000001'

/** Every kind of filter, nested. */
const rich: Condition = {
	logic: 'OR',
	groups: [
		{
			filters: [
				{ field: 'data.city.name', operator: 'equals', value: 'Bath' },
				{ field: 'email.opened', operator: 'notTriggeredWithin', value: 30, unit: 'days' },
			],
			conditions: {
				logic: 'AND',
				groups: [
					{ filters: [{ field: 'event.order', operator: 'triggered' }] },
					{ filters: [{ field: 'data.visits', operator: 'greaterThan', value: 3 }] },
				],
			},
		},
		{ filters: [{ field: `segment.${id}`, operator: 'notMemberOfSegment' }] },
	],
}

test('the builder offers every operator of every kind of field, and no other', (t) => {
	for (const [family, operators] of Object.entries(operatorsOf))
		t.deepEqual(
			operators.toSorted(),
			familyOperators[family as keyof typeof familyOperators].toSorted(),
			family,
		)
	t.deepEqual(Object.keys(operatorsOf).toSorted(), Object.keys(familyOperators).toSorted())
	const fields = ['email', 'subscribed', 'createdAt', 'data.a.b', 'event.x', 'email.opened']
	for (const field of [...fields, `segment.${id}`, 'name', 'data.', 'other.x'])
		t.is(familyOf(field), fieldOf(field)?.family, field)
})

test('a condition reads as a sentence', (t) => {
	t.is(
		sentenceOf(rich, new Map([[`segment.${id}`, 'segment VIP']])),
		'(city.name is Bath and mail opened not in the last 30 days and (event order happened and visits is more than 3)) or segment VIP does not include them',
	)
})

test('a condition survives the address, and an address that was tampered with is ignored', (t) => {
	t.deepEqual(readCondition(JSON.parse(JSON.stringify(rich))), rich)
	t.true(isComplete(rich))
	for (const wrong of [
		'all',
		{ logic: 'NOT', groups: [] },
		{ logic: 'AND', groups: [] },
		{ logic: 'AND', groups: [{}] },
		{ logic: 'AND', groups: [{ filters: [{ field: 'data.a', operator: 'triggered' }] }] },
		{ logic: 'AND', groups: [{ filters: [{ field: 'data.a', operator: 'equals' }] }] },
	])
		t.is(readCondition(wrong), undefined, JSON.stringify(wrong))
})

test('a condition is built with the keyboard alone, and its count follows', async (t) => {
	const { page, open, app, withSecretKey: headers, faults } = await setupConsole(t)
	for (const [email, data] of [
		['ann@example.org', { plan: 'pro', visits: 12 }],
		['ben@example.org', { plan: 'pro', visits: 2 }],
		['cem@example.org', { plan: 'free', visits: 30 }],
	] as const)
		await app.inject({ method: 'POST', url: '/contacts', headers, payload: { email, data } })
	await open('segments/new')
	await page.getByLabel('Name').fill('Busy pros')
	// Letters that are typed before the list has opened are not for it.
	const search = page.getByLabel('Search fields').and(page.locator(':focus'))
	await page.getByLabel('Field: choose a field').focus()
	await page.keyboard.press('Enter')
	await search.waitFor()
	await page.keyboard.type('plan')
	await page.keyboard.press('Enter')
	const focused = page.locator(':focus')
	await page.getByLabel('Field: plan').and(focused).waitFor()
	await page.keyboard.press('Tab')
	await page.keyboard.press('Tab')
	await page.getByLabel('Value', { exact: true }).and(focused).waitFor()
	await page.keyboard.type('pro')
	const preview = page.getByRole('region', { name: 'Preview' })
	await preview.getByText('2 contacts').waitFor()
	const group = page.getByRole('group', { name: 'Group of filters' })
	await group.getByRole('button', { name: 'And', exact: true }).focus()
	await page.keyboard.press('Enter')
	await search.waitFor()
	await page.keyboard.type('visi')
	await page.keyboard.press('Enter')
	const visits = page.getByRole('group', { name: 'Filter on visits' })
	await visits.getByLabel('Operator').selectOption('is more than')
	await visits.getByLabel('Value', { exact: true }).fill('10')
	await preview.getByText('1 contact', { exact: false }).waitFor()
	t.deepEqual(await preview.getByRole('listitem').allTextContents(), ['ann@example.org pro, 12'])
	await group.getByRole('button', { name: 'And', exact: true }).press('Enter')
	await search.waitFor()
	await page.keyboard.press('Escape')
	const added = page.getByRole('group', { name: 'Filter on a new field' })
	await added.getByRole('button', { name: 'Remove this filter' }).press('Enter')
	await added.waitFor({ state: 'detached' })
	t.is(await page.evaluate('document.activeElement.textContent'), 'And')
	await page.getByRole('button', { name: 'Or another group' }).click()
	await page.getByLabel('Field: choose a field').click()
	await page.getByLabel('Search fields').fill('signed up')
	await page.getByRole('option', { name: 'event signed up' }).click()
	await preview.getByText('1 contact', { exact: false }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Create the segment' }).click()
	await page.getByRole('heading', { level: 1, name: 'Busy pros' }).waitFor()
	const [{ condition }] = (await app.inject({ url: '/segments', headers })).json()
	t.deepEqual(condition, {
		logic: 'OR',
		groups: [
			{
				filters: [
					{ field: 'data.plan', operator: 'equals', value: 'pro' },
					{ field: 'data.visits', operator: 'greaterThan', value: 10 },
				],
			},
			{ filters: [{ field: 'event.signed up', operator: 'triggered' }] },
		],
	})
	t.deepEqual(faults, [])
})

test('nested conditions fit on a phone, and are saved as they were', async (t) => {
	const {
		page,
		open,
		app,
		withSecretKey: headers,
		faults,
	} = await setupConsole(t, {
		browser: { viewport: phone },
	})
	const { groups } = rich
	const condition = { ...rich, groups: groups.slice(0, 1) }
	const payload = { name: 'Bath', condition }
	const created = await app.inject({ method: 'POST', url: '/segments', headers, payload })
	const url = `/segments/${created.json().id}`
	await open(`segments/${created.json().id}/edit`, 'Edit Bath')
	await page.getByRole('group', { name: 'Filter on event order' }).waitFor()
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.deepEqual(await barriersOf(page), [])
	await page.getByLabel('Note').fill('Near the river')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Near the river').waitFor()
	t.like((await app.inject({ url, headers })).json(), { condition, description: 'Near the river' })
	t.deepEqual(faults, [])
})
