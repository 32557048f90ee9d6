import type { SendMailInput } from '../index.ts'
import { type Command, type Context, textOf, UsageError, type Values } from './command.ts'

export const send: Command = {
	usage: '[options] | -',
	summary: 'Send a mail. With -, the message is JSON from standard input, as for POST /v1/send.',
	options: {
		to: { type: 'string', multiple: true },
		from: { type: 'string' },
		subject: { type: 'string' },
		body: { type: 'string' },
		template: { type: 'string' },
		data: { type: 'string' },
		reply: { type: 'string' },
		'idempotency-key': { type: 'string' },
	},
	help: {
		to: 'an address; repeat it for several',
		from: 'the sender',
		subject: 'the subject',
		body: 'the HTML; - reads it from standard input',
		template: 'the id of a template',
		data: 'variables as JSON: \'{"name":"Ann"}\'',
		reply: 'the address for replies',
		'idempotency-key': 'a second send with the same key does nothing',
	},
	async run(context) {
		const { tempost, values, out, signal } = context
		const message = await messageOf(context)
		const idempotencyKey = textOf(values, 'idempotency-key')
		const sent = await tempost.send(message, { idempotencyKey, signal })
		out.show(sent, () =>
			sent.emails.map(({ contact, email }) => `${email}  ${contact.email}`).join('\n'),
		)
	},
}

async function messageOf({ words, values, input }: Context): Promise<SendMailInput> {
	if (words[0] === '-') return fromJson(await input(), 'standard input') as SendMailInput
	const to = values['to'] as string[] | undefined
	if (!to) throw new UsageError('--to is missing')
	const body = textOf(values, 'body')
	return {
		to,
		...given(values, 'from', 'subject', 'template', 'reply'),
		...(body !== undefined && { body: body === '-' ? await input() : body }),
		...dataOf(values),
	}
}

const given = (values: Values, ...names: string[]) =>
	Object.fromEntries(
		names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
	)

function dataOf(values: Values) {
	const text = textOf(values, 'data')
	return text === undefined ? {} : { data: fromJson(text, '--data') as Record<string, unknown> }
}

function fromJson(text: string, where: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		throw new UsageError(`${where} is not JSON`)
	}
}
