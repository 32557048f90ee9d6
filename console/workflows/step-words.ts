import { readCondition } from '../conditions/condition-reading.ts'
import { sentenceOf } from '../conditions/condition-words.ts'
import { inDuration, durationInWords } from './durations.ts'
import { type Graph, type GraphStep, namedBranches } from './graph.ts'

// Steps in the words of the console.

/** Names of what steps refer to by id. */
export interface Names {
	templates: ReadonlyMap<string, string>
	segments: ReadonlyMap<string, string>
}

export function summaryOf(
	{ type, config, templateId }: GraphStep,
	graph: Graph,
	names: Names,
): string {
	switch (type) {
		case 'TRIGGER':
			return triggerInWords(graph.trigger, names)
		case 'SEND_EMAIL':
			return mailInWords(templateId, config, names)
		case 'DELAY':
			return config['amount'] === undefined
				? 'No time is set'
				: `Wait ${inDuration(Number(config['amount']), text(config['unit']))}`
		case 'WAIT_FOR_EVENT':
			return waitInWords(config)
		case 'CONDITION':
			return conditionInWords(config, names)
		case 'WEBHOOK':
			return config['url'] === undefined
				? 'No URL is set'
				: `${text(config['method'] ?? 'POST')} ${text(config['url'])}`
		case 'UPDATE_CONTACT':
			return updateInWords(config)
		case 'EXIT':
			return config['reason'] ? `End: ${text(config['reason'])}` : 'End here'
	}
}

export function branchInWords(
	{ type, config }: Pick<GraphStep, 'type' | 'config'>,
	branch: string | null,
) {
	if (branch === null) return ''
	if (type === 'WAIT_FOR_EVENT') return branch === 'event' ? 'event' : 'time-out'
	if (branch === 'default') return 'otherwise'
	return namedBranches(config).find(({ id }) => id === branch)?.name ?? branch
}

export function triggerInWords({ type, config }: Graph['trigger'], { segments }: Names) {
	if (type === 'MANUAL') return 'Started by hand or by the API'
	if (type === 'EVENT') return `When “${text(config['eventName'])}” happens`
	const segmentId = text(config['segmentId'])
	const audience = segmentId
		? `for the segment “${segments.get(segmentId) ?? segmentId}”`
		: 'for everyone'
	return `At ${text(config['schedule'])} (${text(config['timezone'] ?? 'UTC')}), ${audience}`
}

function mailInWords(
	templateId: string | null,
	config: Record<string, unknown>,
	{ templates }: Names,
) {
	if (!templateId) return 'No template is chosen'
	const recipient = recordOf(config['recipient'])
	const to = recipient['type'] === 'CUSTOM' ? ` to ${text(recipient['customEmail'])}` : ''
	return `Send “${templates.get(templateId) ?? 'a deleted template'}”${to}`
}

function waitInWords({ eventName, timeout }: Record<string, unknown>) {
	if (!eventName) return 'No event is set'
	return typeof timeout === 'number'
		? `Wait up to ${durationInWords(timeout)} for ${text(eventName)}`
		: `Wait for ${text(eventName)}, however long`
}

function updateInWords({ data, subscribed }: Record<string, unknown>) {
	const fields = Object.keys(recordOf(data))
	const parts = [
		...(fields.length > 0 ? [`Set ${fields.join(', ')}`] : []),
		...(typeof subscribed === 'boolean' ? [subscribed ? 'Subscribe' : 'Unsubscribe'] : []),
	]
	return parts.join('. ') || 'Nothing is changed yet'
}

export const operatorWords: Record<string, string> = {
	equals: 'is',
	notEquals: 'is not',
	contains: 'contains',
	notContains: 'does not contain',
	greaterThan: 'is greater than',
	lessThan: 'is less than',
	greaterThanOrEqual: 'is at least',
	lessThanOrEqual: 'is at most',
	exists: 'is set',
	notExists: 'is not set',
}

function conditionInWords(config: Record<string, unknown>, names: Names): string {
	if (config['mode'] === 'multi')
		return `By ${text(config['field'])}: ${namedBranches(config)
			.map(({ name }) => name)
			.join(', ')}`
	if (Array.isArray(config['groups'])) return treeInWords(config, names)
	return config['field'] === undefined ? 'No condition is set' : `If ${comparisonInWords(config)}`
}

function treeInWords(config: Record<string, unknown>, { segments }: Names) {
	const condition = readCondition(config)
	if (!condition) return 'The condition is not complete'
	const names = new Map([...segments].map(([id, name]) => [`segment.${id}`, name]))
	return `If ${sentenceOf(condition, names)}`
}

function comparisonInWords({ field, operator, value }: Record<string, unknown>) {
	const words = operatorWords[text(operator)] ?? text(operator)
	return [text(field), words, value === undefined ? '' : text(value)].filter(Boolean).join(' ')
}

const text = (value: unknown): string =>
	value === undefined || value === null
		? ''
		: typeof value === 'string'
			? value
			: JSON.stringify(value)
export const recordOf = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
