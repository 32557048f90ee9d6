import Type from 'typebox'
import { familyOperators, units } from '../../db/conditions/condition.ts'

const operatorsOf = (family: keyof typeof familyOperators) => familyOperators[family].join(', ')

const grammar =
	'A tree {"logic": "AND" or "OR", "groups": [{"filters": [{"field", "operator", "value", "unit"}], "conditions": a nested tree}]}. ' +
	'All filters of a group must match. Fields and their operators: ' +
	`email (${operatorsOf('email')}); subscribed (${operatorsOf('subscribed')}); createdAt, updatedAt (${operatorsOf('date')}); ` +
	`data.<key> (${operatorsOf('data')}); event.<name> and email.sent, delivered, opened, clicked, bounced, complained (${operatorsOf('event')}); ` +
	`segment.<id> (${operatorsOf('segment')}). Operators about time take value and unit (${units.join(', ')}). ` +
	'Example: {"logic": "AND", "groups": [{"filters": [{"field": "data.plan", "operator": "equals", "value": "pro"}]}]}'

/** A condition tree. Its route checks it; recursive schemas confuse some clients. */
export const condition = (description: string) =>
	Type.Unsafe<object>({ type: 'object', description: `${description} ${grammar}` })
