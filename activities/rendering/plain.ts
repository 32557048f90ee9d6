import { contextFor, engines, print } from './liquid-engine.ts'
import { compile } from './liquid.ts'
import type { Variables } from './look-up.ts'

/** For what is no mail, data and requests: neither escaped nor brought into one line. */
export function renderPlain(source: string, variables: Variables): string {
	if (!source.includes('{')) return source
	// Subjects are not escaped either, and share what has been parsed.
	const { kind, nodes } = compile(source, 'subject')
	const { context, output } = contextFor(kind, variables)
	print(engines[kind], nodes, context, output)
	return output.buffer
}

/** The same for every string in a value of JSON; the names of members stay as they are. */
export function renderDeep(value: unknown, variables: Variables): unknown {
	if (typeof value === 'string') return renderPlain(value, variables)
	if (Array.isArray(value)) return value.map((item) => renderDeep(item, variables))
	if (typeof value !== 'object' || value === null) return value
	return Object.fromEntries(
		Object.entries(value).map(([key, inner]) => [key, renderDeep(inner, variables)]),
	)
}
