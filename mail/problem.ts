/** One item of a validation error's `errors`. */
export interface Problem {
	field: string
	/** Continues the field's name: `must be …`. */
	message: string
	code: 'invalid_type' | 'invalid_string' | 'too_small' | 'too_big' | 'custom' | 'template_syntax'
	/** Where a template cannot be read. Both start at 1. */
	line?: number
	column?: number
}
