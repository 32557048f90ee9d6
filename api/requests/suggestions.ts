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
		'Send each value as the JSON type named in errors, for example numbers without quotes.',
	invalid_string: 'Correct the texts named in errors and send the request again.',
	too_small: 'Fill in the fields named in errors, or leave out those that are optional.',
	too_big: 'Shorten the values named in errors and send the request again.',
	invalid_enum_value: 'Use one of the values listed in errors.',
	unrecognized_keys: 'Remove or rename the members named in errors.',
	invalid_union: 'Use one of the forms that the documentation at /docs describes.',
	custom: 'Correct the fields named in errors and send the request again.',
	reserved_event:
		'Choose another name. Names such as email.* and contact.subscribed are reserved for our own events.',
	template_syntax: 'Correct the Liquid tags named in errors and send the request again.',
}

/** What a caller can do about a refused body. A route may know more about a field than the code does. */
export function withSuggestion(error: ApiError, byField: Record<string, string> = {}): ApiError {
	const [first] = error.extras.errors ?? []
	if (error.status !== 422 || !first || error.extras.suggestion) return error
	// In a list, as in `1.to`, the member comes second.
	const member = first.field.replace(/^\d+\./, '').split('.', 1)[0]!
	const known = Object.hasOwn(byField, member) ? byField[member] : undefined
	// A code for syntax or a reserved name is more specific than the field.
	const isSpecial = first.code === 'template_syntax' || first.code === 'reserved_event'
	error.extras.suggestion = (!isSpecial && known) || byCode[first.code]
	return error
}
