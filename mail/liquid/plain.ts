import { contextFor, createOutput, engines, print } from './liquid-engine.ts'
import { compile, sendable } from './liquid.ts'
import type { Variables } from './look-up.ts'
import { exceeded, renderLimits } from '../render-limits.ts'

const createEffort = () => ({ ms: 0, length: 0 })

/** Renders text outside of mails, such as data and requests: neither escaped nor reduced to one line. */
export function renderPlain(source: string, variables: Variables, effort = createEffort()): string {
	if (!source.includes('{')) return source
	const began = performance.now()
	// Subjects are not escaped either, so both share parsed templates.
	const { kind, nodes } = compile(source, 'subject')
	const { renderMs, outputLength } = renderLimits()
	if (effort.ms > renderMs || effort.length > outputLength) {
		exceeded('the texts of one request take too long')
		return ''
	}
	const context = contextFor(kind, variables)
	const { output } = context
	print(engines[kind], nodes, context, output)
	effort.ms += performance.now() - began
	effort.length += output.buffer.length
	return output.buffer
}

/** Renders the text part of a mail: like other plain text, but within the limits of one rendering of its own. */
export function renderTextPart(source: string, variables: Variables) {
	const { kind, nodes, sourceLength } = compile(source, 'subject')
	const context = contextFor(kind, variables, createOutput(kind, sourceLength))
	const { output, faults } = context
	print(engines[kind], nodes, context, output)
	return {
		text: sendable(output.buffer),
		fault: faults.length > 0 ? sendable(faults.join('; ')) : null,
	}
}

/**
 * Renders every string in a JSON value; the names of members stay as they are. There may be thousands of
 * strings: once they have used up the time and length of one rendering, the rest print nothing.
 */
export function renderDeep(value: unknown, variables: Variables, effort = createEffort()): unknown {
	if (typeof value === 'string') return renderPlain(value, variables, effort)
	if (Array.isArray(value)) return value.map((item) => renderDeep(item, variables, effort))
	if (typeof value !== 'object' || value === null) return value
	return Object.fromEntries(
		Object.entries(value).map(([key, inner]) => [key, renderDeep(inner, variables, effort)]),
	)
}
