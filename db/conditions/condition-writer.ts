import type { Filter, Operator, Unit } from './condition.ts'

/** Writes SQL in which `{c}` stands for the contact, and `{0}`, `{1}`… for parameters. */
export interface Writer {
	/** A parameter of this Postgres type. */
	value(value: unknown, type: string): string
	/** The moment that lies a filter's amount of time back. */
	ago(filter: Filter): string
}

const unitSeconds: Record<Unit, number> = { minutes: 60, hours: 3600, days: 86_400 }
/** Some 3,000 years: longer than anything is old, and still a time that Postgres knows. */
const longestSeconds = 1e11

export function createWriter(now?: Date) {
	const parameters: unknown[] = []
	const value = (given: unknown, type: string) => `{${parameters.push(given) - 1}}::${type}`
	function ago({ value: amount, unit }: Filter) {
		const seconds = Math.min(Number(amount) * unitSeconds[unit!], longestSeconds)
		const moment = now ? value(now.toISOString(), 'timestamptz') : 'now()'
		return `${moment} - make_interval(secs => ${value(seconds, 'float8')})`
	}
	const render = (template: string) => (alias: string, first: number) =>
		template.replaceAll(/\{(c|\d+)\}/g, (_, name: string) =>
			name === 'c' ? alias : `$${first + Number(name)}`,
		)
	return { value, ago, parameters, render }
}

/** Twenty-four hours, not a day: that could be longer or shorter in the session's time zone. */
export const onDay = (stored: string, midnight: string) =>
	`(${stored} >= ${midnight} and ${stored} < ${midnight} + interval '24 hours')`

export const comparators: Partial<Record<Operator, string>> = {
	greaterThan: '>',
	lessThan: '<',
	greaterThanOrEqual: '>=',
	lessThanOrEqual: '<=',
}
