/** One item of a validation error's `errors`. */
export interface Problem {
	field: string
	/** Reads on from the field: `must be …`. */
	message: string
	code: 'invalid_type' | 'invalid_string' | 'too_small' | 'too_big' | 'custom' | 'template_syntax'
}
