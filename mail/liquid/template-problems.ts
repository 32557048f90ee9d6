import { compile, isTemplateError } from './liquid.ts'
import type { TemplateKind } from './printing.ts'
import type { Problem } from '../problem.ts'
import { exceeded, isInVain, renderLimits } from '../render-limits.ts'

export interface AskedTemplate {
	/** A text, or a JSON value in which every string is a template. */
	value: unknown
	kind: TemplateKind
	field: string
}

/** The faults in the templates of a value, as items of an error's `errors`. */
export function problemsIn({ value, kind, field }: AskedTemplate): Problem[] {
	const { renderMs } = renderLimits()
	const beganAt = performance.now()
	return deep(value, field)

	function deep(inner: unknown, path: string): Problem[] {
		if (typeof inner === 'string') return inner.includes('{') ? problemOf(inner, path) : []
		if (typeof inner !== 'object' || inner === null) return []
		return Object.entries(inner).flatMap(([key, item]) => deep(item, `${path}.${key}`))
	}

	function problemOf(source: string, path: string): Problem[] {
		// Each is quick, but there may be thousands.
		if (performance.now() - beganAt > renderMs) exceeded('there are too many templates')
		if (isInVain()) return []
		try {
			compile(source, kind)
			return []
		} catch (error) {
			if (!isTemplateError(error)) throw error
			const { message, line, column } = error
			return [
				{
					field: path,
					message: `cannot be read: ${message} (line ${line}, column ${column})`,
					code: 'template_syntax',
					line,
					column,
				},
			]
		}
	}
}
