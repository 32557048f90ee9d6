import { operators, timedOperators, units, valueOperators } from '../../db/conditions/condition.ts'
import { object, ref, type Shape, union } from '../docs/shape.ts'

// Conditions as the document describes them. `checkCondition` is what checks them.

const closed = { additionalProperties: false }
const plainOperators = operators.filter(
	(operator) => !timedOperators.includes(operator) && !valueOperators.includes(operator),
)
const field = {
	type: 'string',
	description:
		'`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<path>`, `event.<name>`, `email.<activity>` or `segment.<id>`. Dots in a path reach into objects. An activity is sent, delivered, opened, clicked, bounced or complained.',
	examples: ['data.plan', 'event.login', 'email.opened'],
}
const operator = (names: readonly string[]) => ({
	type: 'string',
	enum: names,
	description: 'The operators that fit depend on the field.',
})

const nameOf = (name: string) =>
	timedOperators.includes(name as never)
		? 'TimeFilter'
		: valueOperators.includes(name as never)
			? 'ValueFilter'
			: 'StateFilter'

export const conditionShapes: Record<string, Shape> = {
	Condition: object(
		{
			logic: {
				type: 'string',
				enum: ['AND', 'OR'],
				description: 'AND: a contact must match every group. OR: one group is enough.',
			},
			groups: {
				type: 'array',
				minItems: 1,
				items: ref('ConditionGroup'),
				description: 'The groups that `logic` joins.',
			},
		},
		['logic', 'groups'],
		{
			...closed,
			description:
				'A condition on contacts. Trees nest at most 10 deep and contain at most 100 filters.',
		},
	),
	ConditionGroup: object(
		{
			filters: {
				type: 'array',
				items: ref('Filter'),
				description: 'A contact must match all of them.',
			},
			conditions: {
				anyOf: [ref('Condition'), { type: 'null' }],
				description: 'A nested condition, which must match as well.',
			},
		},
		[],
		{ ...closed, description: 'Needs at least one filter or a nested condition.' },
	),
	Filter: union(
		'operator',
		Object.fromEntries(operators.map((name) => [name, nameOf(name)])),
		'One test of one field. The operator decides what else it takes.',
	),
	ValueFilter: object(
		{
			field,
			operator: operator(valueOperators),
			value: {
				description:
					'Compared with the field. Null is allowed with equals and notEquals. A date is a string such as 2026-01-31.',
				examples: ['pro'],
			},
			unit: { type: ['string', 'null'], description: 'Ignored by these operators.' },
		},
		['field', 'operator', 'value'],
		{ ...closed, description: 'Compares a field with a value.' },
	),
	TimeFilter: object(
		{
			field,
			operator: operator(timedOperators),
			value: { type: 'number', exclusiveMinimum: 0, description: 'How many units of time.' },
			unit: { type: 'string', enum: [...units], description: 'The unit of `value`.' },
		},
		['field', 'operator', 'value', 'unit'],
		{ ...closed, description: 'Compares a time with now.' },
	),
	StateFilter: object(
		{
			field,
			operator: operator(plainOperators),
			value: { description: 'Ignored by these operators.' },
			unit: { type: ['string', 'null'], description: 'Ignored by these operators.' },
		},
		['field', 'operator'],
		{ ...closed, description: 'Tests a field without a value.' },
	),
}
