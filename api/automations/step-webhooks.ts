import Type from 'typebox'
import { perform } from '../../mail/rendering.ts'
import { webhookMethods } from '../../db/automations/automation-definition.ts'
import type { FieldError } from '../errors.ts'
import { about, Line, Nullable } from '../schemas.ts'

export const Webhook = Type.Object(
	{
		url: about('The URL to call, a Liquid template.', Line({ minLength: 1, maxLength: 2048 })),
		method: Type.Optional(
			about('POST unless you set it.', Nullable(Type.Enum([...webhookMethods]))),
		),
		headers: Type.Optional(
			about(
				'Headers of the request. The values are Liquid templates.',
				Nullable(Type.Record(Type.String(), Line({ maxLength: 998 }))),
			),
		),
		body: Type.Optional(
			Type.Unknown({
				description:
					'The JSON to send. Strings in it are Liquid templates. Without it, the contact, workflow, execution and event are sent.',
			}),
		),
		retryFor: Type.Optional(
			about(
				'Seconds for which failed requests are repeated. 3,600 unless you set it.',
				Nullable(Type.Number({ minimum: 0, maximum: 7 * 86_400 })),
			),
		),
		continueOnError: Type.Optional(
			about('Continue with the next step if all requests fail.', Nullable(Type.Boolean())),
		),
	},
	{ additionalProperties: false },
)
export type Webhook = Type.Static<typeof Webhook>

/** Rules that a schema can't express: templates, the address, and headers that we set ourselves. */
export async function webhookProblems(
	projectId: string,
	{ url, method, headers, body }: Webhook,
	path: string,
) {
	const hasBody = body !== undefined && body !== null
	const isBodyWrong = hasBody && method === 'GET'
	const ofUrl = await templateProblems(projectId, url, `${path}.url`)
	return [
		...(ofUrl.length > 0 ? ofUrl : urlProblems(url, `${path}.url`)),
		...Object.keys(headers ?? {}).flatMap((name) =>
			headerProblems(name, `${path}.headers.${name}`),
		),
		...(await templateProblems(projectId, headers, `${path}.headers`)),
		...(isBodyWrong
			? [custom(`${path}.body`, 'cannot be sent with the method GET')]
			: await templateProblems(projectId, body, `${path}.body`)),
	]
}

function urlProblems(url: string, field: string): FieldError[] {
	const wrong: FieldError = {
		field,
		message: 'must be an address that starts with https:// or http://',
		code: 'invalid_string',
	}
	// Parts of the address may be known only after rendering. The text before them can be checked.
	const template = url.search(/\{[{%]/)
	if (template === 0) return []
	if (template > 0) return /^https?:\/\//i.test(url.slice(0, template)) ? [] : [wrong]
	const parsed = URL.parse(url)
	if (!parsed || !/^https?:$/.test(parsed.protocol)) return [wrong]
	return parsed.username === '' && parsed.password === ''
		? []
		: [custom(field, 'must not contain a password: use an Authorization header')]
}

/** Headers of the connection, and headers that prove to the receiver that the request comes from us. */
const ours = new Set([
	'host',
	'connection',
	'content-length',
	'transfer-encoding',
	'keep-alive',
	'upgrade',
	'te',
	'trailer',
	'expect',
	'idempotency-key',
	'webhook-id',
	'webhook-timestamp',
	'webhook-signature',
])

function headerProblems(name: string, field: string): FieldError[] {
	if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) return [custom(field, 'is not a header’s name')]
	if (ours.has(name.toLowerCase())) return [custom(field, 'is a header that Tempost sets itself')]
	return []
}

/** Every string is a template, at any depth. */
export const templateProblems = (
	projectId: string,
	value: unknown,
	field: string,
): Promise<FieldError[]> => perform(projectId, 'problems', [{ value, kind: 'subject', field }])

const custom = (field: string, message: string): FieldError => ({ field, message, code: 'custom' })
