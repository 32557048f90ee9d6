import { randomFrom } from './random.ts'
import type { JsonSchema } from './schema-values.ts'

/** Numbers below a limit, the same for the same seed. */
export const numbersFrom = (seed: number) => randomFrom(seed).below
export type Random = ReturnType<typeof numbersFrom>

export const pick = <T>(next: Random, values: readonly T[]): T => values[next(values.length)]!

export const hostileTexts = [
	'',
	' ',
	'\0',
	'a\0b',
	'\r\nBcc: victim@example.org',
	'\ud800',
	'😀🏳️‍🌈',
	'ÅŸİ',
	'\u2028',
	`'; drop table contacts; --`,
	'$1',
	'%',
	'\\',
	'__proto__',
	'constructor',
	'toString',
	'{{ a',
	'{% for x in (1..100000000) %}{% endfor %}',
	'../../etc/passwd',
	'0',
	'-1',
	'1e400',
	'NaN',
	'true',
	'null',
	'2026-13-45T25:61:61Z',
	'+275760-09-13T00:00:00.001Z',
	'0000-00-00',
	'a@example.org',
	'"a b"@example.org',
	'00000000-0000-0000-0000-000000000000',
	'x'.repeat(300),
	'é'.repeat(5000),
]
const hostileNumbers = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 1e-308]
const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`) as unknown
const others = [null, true, false, [], {}, [[]], [null], { a: { b: null } }, { toString: 1 }, deep]

export function hostileValue(next: Random): unknown {
	return pick<() => unknown>(next, [
		() => pick(next, hostileTexts),
		() => pick(next, hostileNumbers),
		() => pick(next, others),
	])()
}

/** A mostly valid value for a schema: now and then a part of it is hostile. */
export function nearly(schema: JsonSchema, next: Random): unknown {
	if (next(8) === 0) return hostileValue(next)
	if (schema.const !== undefined) return schema.const
	if (schema.enum) return pick(next, schema.enum)
	if (schema.anyOf) return nearly(pick(next, schema.anyOf), next)
	switch ([schema.type].flat()[0]) {
		case 'object':
			return Object.fromEntries(
				Object.entries(schema.properties ?? { [pick(next, hostileTexts)]: {} })
					.filter(([name]) => schema.required?.includes(name) || next(2) === 0)
					.map(([name, member]) => [name, nearly(member, next)]),
			)
		case 'array':
			return Array.from({ length: next(4) }, () => nearly(schema.items ?? {}, next))
		case 'boolean':
			return next(2) === 0
		case 'integer':
		case 'number':
			return (schema.minimum ?? 0) + next(20)
		case 'null':
			return null
	}
	if (schema.format === 'email') return `a${next(5)}@example.org`
	if (schema.format === 'date-time') return new Date(next(2 ** 31) * 1000).toISOString()
	return pick(next, hostileTexts)
}
