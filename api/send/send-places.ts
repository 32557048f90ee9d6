import { ApiError, type FieldError } from '../errors.ts'

// The messages of a batch in errors: `1.to`. The place of a single message is empty.

export const placed = (at: string, error: FieldError) => ({
	...error,
	field: `${at}${error.field}`.replace(/\.$/, ''),
})

export function naming<Result>(at: string, check: () => Result) {
	try {
		return check()
	} catch (error) {
		return rename(at, error)
	}
}

/** A refusal of one message of a batch says which. */
export function rename(at: string, error: unknown): never {
	if (at !== '' && error instanceof ApiError) {
		const { errors, details } = error.extras
		if (errors) error.extras.errors = errors.map((one) => placed(at, one))
		else error.extras.details = { ...details, message: Number.parseInt(at) }
	}
	throw error
}
