import { text } from 'node:stream/consumers'
import type { SendMailInput, SentMail } from '../index.ts'
import { type Command, type Context, textOf, tooMany, UsageError, type Values } from './command.ts'

export const send: Command = {
	usage: '[options] | -',
	mostWords: 1,
	summary:
		'Send a mail. With -, JSON from standard input: a message as for POST /v1/send, or a list of up to 100.',
	options: {
		to: { type: 'string', multiple: true },
		cc: { type: 'string', multiple: true },
		bcc: { type: 'string', multiple: true },
		from: { type: 'string' },
		subject: { type: 'string' },
		body: { type: 'string' },
		text: { type: 'string' },
		template: { type: 'string' },
		data: { type: 'string' },
		reply: { type: 'string' },
		at: { type: 'string' },
		'idempotency-key': { type: 'string' },
	},
	help: {
		to: 'an address; repeat it for several',
		cc: 'an address that gets a copy, with one --to; repeat it for several',
		bcc: 'the same, unseen by the others',
		from: 'the sender',
		subject: 'the subject',
		body: 'the HTML; - reads it from standard input',
		text: 'the text part; without --body, the whole mail',
		template: 'the id of a template',
		data: 'variables as JSON: \'{"name":"Ann"}\'',
		reply: 'the address for replies',
		at: 'when to send it: 2026-12-24T08:00:00+01:00, at most 30 days ahead',
		'idempotency-key': 'a second send with the same key does nothing',
	},
	async run(context) {
		const { tempost, values, out, signal } = context
		const message = await messageOf(context)
		const idempotencyKey = textOf(values, 'idempotency-key')
		if (Array.isArray(message)) {
			const sent = await tempost.sendBatch(message, { idempotencyKey, signal })
			return out.show(sent, () => sent.results.flatMap(({ emails }) => emails.map(line)).join('\n'))
		}
		const sent = await tempost.send(message, { idempotencyKey, signal })
		out.show(sent, () => sent.emails.map(line).join('\n'))
	},
}

/** A mail without a status is sent at once. */
const line = ({ email, contact, status, scheduledFor }: SentMail) =>
	[email, contact.email, status, scheduledFor].filter((part) => part).join('  ')

async function messageOf({ words, values, input }: Context) {
	const [word] = words
	if (word !== undefined && word !== '-') throw tooMany(word)
	if (word === '-') {
		refuseOptionsOfMessage(values)
		return fromJson(await text(input()), 'standard input') as SendMailInput | SendMailInput[]
	}
	const to = values['to'] as string[] | undefined
	if (!to) throw new UsageError('--to is missing')
	const body = textOf(values, 'body')
	const at = textOf(values, 'at')
	return {
		to,
		...given(values, 'from', 'cc', 'bcc', 'subject', 'text', 'template', 'reply'),
		...(at !== undefined && { delivery: { at } }),
		...(body !== undefined && { body: body === '-' ? await text(input()) : body }),
		...dataOf(values),
	}
}

/** The JSON is the whole message. Without an `--at` beside it, for example, the mail would be sent now. */
function refuseOptionsOfMessage(values: Values) {
	const option = Object.keys(send.options).find(
		(name) => name !== 'idempotency-key' && values[name] !== undefined,
	)
	if (option !== undefined)
		throw new UsageError(`--${option} has no effect beside -. Write it into the JSON.`)
}

const given = (values: Values, ...names: string[]) =>
	Object.fromEntries(
		names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
	)

function dataOf(values: Values) {
	const data = textOf(values, 'data')
	return data === undefined ? {} : { data: fromJson(data, '--data') as Record<string, unknown> }
}

function fromJson(json: string, where: string): unknown {
	try {
		return JSON.parse(json)
	} catch {
		throw new UsageError(`${where} is not JSON`)
	}
}
