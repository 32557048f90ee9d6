import { operatorWords } from '../step-words.ts'

export const operators = [
	'equals',
	'notEquals',
	'contains',
	'notContains',
	'greaterThan',
	'greaterThanOrEqual',
	'lessThan',
	'lessThanOrEqual',
	'exists',
	'notExists',
].map((value) => ({ value, name: operatorWords[value] ?? value }))

export const takesValue = (operator: unknown) => operator !== 'exists' && operator !== 'notExists'
