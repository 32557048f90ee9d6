import Type, { type TProperties, type TSchema } from 'typebox'
import Value from 'typebox/value'
import type { StoredJson } from '../db/stored-json.ts'
import { ApiError } from './errors.ts'

export { isEmail, normalizeEmail } from '../db/address.ts'

/** A schema with a name in the document: every use of it refers to that component. */
export const Component = <T extends TProperties>(title: string, properties: T) =>
	Type.Object(properties, { title })

/** A body with an example of it. */
export const Body = <T extends TProperties>(example: object, properties: T) =>
	Type.Object(properties, { examples: [example] })

/** The same schema, with words about this use of it. */
export const about = <T extends TSchema>(description: string, schema: T): T =>
	Object.create(Object.getPrototypeOf(schema) as object, {
		...Object.getOwnPropertyDescriptors(schema),
		description: { value: description, enumerable: true },
	}) as T

/** A component that has all members of another, and more. */
export const Extended = <H extends TSchema[], T extends TProperties>(
	title: string,
	heritage: [...H],
	properties: T,
) => Type.Interface(heritage, properties, { title })

export const Id = Type.String({ format: 'uuid' })

/** An id in a path. One that is no UUID names nothing: the answer is this resource's 404, not a 422. */
export const PathId = (resource: string) =>
	Type.String({
		format: 'uuid',
		'x-resource': resource,
		description: `The id of the ${resource}.`,
	})

/** A name that people choose: not only spaces. */
export const Name = Type.String({
	minLength: 1,
	maxLength: 100,
	pattern: '\\S',
	'x-message': 'must not be blank',
	description: 'The name in lists.',
})

export const Language = Type.String({
	pattern: '^[a-z]{2}(-[A-Z]{2})?$',
	'x-message': 'must be a language such as en or de-AT',
})
/** The language of an author's text; footer and pages use their reader's. */
export const ContentLanguage = Type.Optional(
	Type.Union([Language, Type.Null()], {
		description:
			'The language of subject and body, such as en or de-AT. The default is the project’s language.',
	}),
)

/** A Date in our code, an ISO 8601 string on the wire. */
export const Timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })

/** Checked by `isEmail`; stored and looked up after `normalizeEmail`. */
export const Email = Type.String({ format: 'email' })

/** One line: a subject, a name. The message replaces "has the wrong form" in errors. */
export const Line = (options: { minLength?: number; maxLength: number }) =>
	Type.String({ pattern: '^[^\\r\\n]*$', 'x-message': 'must not contain line breaks', ...options })

/** An object with any keys: a Record of TypeBox would drop keys with a line break from answers. */
export const Json = Type.Unsafe<Record<string, unknown> | StoredJson>({
	type: 'object',
	additionalProperties: true,
})

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The envelope of `/v1/*` and of the two wrapped campaign calls. */
export const success = <T extends TSchema>(data: T) =>
	Type.Object({ success: Type.Literal(true), data })

export const page = <T extends TSchema>(item: T) =>
	Type.Object({
		data: Type.Array(item),
		page: Type.Integer(),
		pageSize: Type.Integer(),
		total: Type.Integer(),
		totalPages: Type.Integer(),
	})

export const Message = Component('Message', { message: Type.String() })
export const Reference = Component('Reference', { id: Id, name: Type.String() })
export const ContactReference = Component('ContactReference', { id: Id, email: Type.String() })

// For lists, in a query string.
export const PageNumber = Type.Integer({
	minimum: 1,
	maximum: 2 ** 31 - 1,
	default: 1,
	description: 'The page to return. The first is 1.',
})
export const Direction = Type.Enum(['asc', 'desc'], {
	default: 'desc',
	description: 'The order of the list: ascending or descending.',
})
export const Cursor = Type.Optional(
	Type.String({ description: 'The `cursor` of the previous page. Leave it out for the first.' }),
)

/** `cursor` is absent on the last page; `total` is counted for the first page only, then 0. */
export const cursorPage = <T extends TSchema>(item: T) =>
	Type.Object({
		data: Type.Array(item),
		cursor: Type.Optional(Type.String()),
		hasMore: Type.Boolean(),
		total: Type.Integer(),
	})

/** The position in a list: the sort values of the last item, opaque to the caller. */
export const encodeCursor = (values: unknown[]) =>
	Buffer.from(JSON.stringify(values)).toString('base64url')

/** A time in a cursor, in milliseconds. */
export const CursorTime = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 })

/** The values of a cursor of ours, typed by their schema; anything else is a 400. */
export function decodeCursor<T extends TSchema>(schema: T, cursor: string): Type.Static<T> {
	const values = parsed(cursor)
	if (Value.Check(schema, values)) return values
	throw new ApiError(400, 'BAD_REQUEST', 'The cursor was not returned by this list', {
		errors: [{ field: 'cursor', message: 'is not a cursor of this list', code: 'invalid_string' }],
		suggestion: 'Pass the cursor of the previous page unchanged, or none for the first page.',
	})
}

function parsed(cursor: string): unknown {
	try {
		return JSON.parse(Buffer.from(cursor, 'base64url').toString())
	} catch {
		return undefined
	}
}
