import type { ApiError, FieldError } from '../errors.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** By the first part of a field's name: what to do when a 422 names it first. */
		suggestions?: Record<string, string>
	}
}

const byCode: Record<FieldError['code'], string> = {
	required: 'Add the fields named in errors and send the request again.',
	invalid_type:
		'Send each value in the JSON type that errors ask for, without quotes around numbers.',
	invalid_string: 'Correct the texts named in errors and send the request again.',
	too_small: 'Fill in the fields named in errors, or leave out those that are optional.',
	too_big: 'Shorten what errors name and send the request again.',
	invalid_enum_value: 'Use one of the values listed in errors.',
	unrecognized_keys: 'Remove or rename the members named in errors.',
	invalid_union: 'Use one of the forms that the documentation at /docs describes.',
	custom: 'Correct the fields named in errors and send the request again.',
	reserved_event:
		'Choose another name. Those of email.*, contact.* and segment.* are for our own events.',
	template_syntax: 'Correct the Liquid tags named in errors and send the request again.',
}

/** What a caller can do about a refused body: a route may know more of a field than the code says. */
export function withSuggestion(error: ApiError, byField: Record<string, string> = {}): ApiError {
	const [first] = error.extras.errors ?? []
	if (error.status !== 422 || !first || error.extras.suggestion) return error
	const member = first.field.split('.', 1)[0]!
	const known = Object.hasOwn(byField, member) ? byField[member] : undefined
	// A fault of syntax or of a reserved name says more than the field does.
	const isSpecial = first.code === 'template_syntax' || first.code === 'reserved_event'
	error.extras.suggestion = (!isSpecial && known) || byCode[first.code]
	return error
}
