import { createHmac, randomBytes } from 'node:crypto'
import type { Activity, Tempost } from '../index.ts'
import { type Command, type Context, textOf, UsageError } from './command.ts'
import { follow } from './following.ts'

const patienceMs = 10_000

export const listen: Command = {
	usage: '--forward-to URL',
	summary: 'Forward the project’s events to a program on this machine, as signed webhooks.',
	options: {
		'forward-to': { type: 'string' },
		events: { type: 'string' },
		secret: { type: 'string' },
	},
	help: {
		'forward-to': 'where they are posted: http://localhost:4000/hook',
		events: 'only these: email.bounced,contact.*,event.signup',
		secret: 'signs them; by default a new one, which is printed',
	},
	async run(context) {
		const { tempost, values, out, signal } = context
		const url = textOf(values, 'forward-to')
		if (!url || !URL.canParse(url)) throw new UsageError('--forward-to needs an address')
		const secret = textOf(values, 'secret') ?? `whsec_${randomBytes(24).toString('base64')}`
		out.note(`Signed with ${secret}`)
		out.note(`Forwarding to ${url} until Ctrl-C`)
		const isWanted = filterOf(textOf(values, 'events'))
		for await (const activity of follow(tempost, new Date(), signal)) {
			const event = await eventOf(tempost, activity)
			if (event && isWanted(event.type)) await forward(context, url, secret, activity.id, event)
		}
	},
}

interface Event {
	type: string
	timestamp: string
	data: Record<string, unknown>
}

async function forward(
	{ out, signal }: Context,
	url: string,
	secret: string,
	id: string,
	event: Event,
) {
	const body = JSON.stringify(event)
	const began = Date.now()
	const answer = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...signatureOf(id, body, secret) },
		body,
		signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
	}).then(
		({ status }) => ({ status }),
		(error: Error) => ({
			error: String((error.cause as Error | undefined)?.message ?? error.message),
		}),
	)
	const said = 'status' in answer ? String(answer.status) : answer.error
	const result = { id, type: event.type, ...answer, durationMs: Date.now() - began }
	out.show(result, () => `${event.timestamp}  ${event.type.padEnd(20)}  ${said}`)
}

function signatureOf(id: string, body: string, secret: string) {
	const seconds = Math.floor(Date.now() / 1000)
	const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
	const code = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
	return {
		'webhook-id': id,
		'webhook-timestamp': String(seconds),
		'webhook-signature': `v1,${code}`,
	}
}

/** `email.bounced`, `contact.*` or `*`, as for an endpoint. */
function filterOf(list: string | undefined) {
	const wanted = new Set(list?.split(',') ?? ['*'])
	return (type: string) =>
		wanted.has('*') || wanted.has(type) || wanted.has(`${type.split('.')[0]}.*`)
}

const types: Partial<Record<Activity['type'], string>> = {
	'email.complaint': 'email.complained',
	'campaign.sent': 'campaign.completed',
	'workflow.started': 'execution.started',
	'workflow.completed': 'execution.completed',
}
const unknown: Activity['type'][] = ['campaign.scheduled', 'workflow.email.scheduled']

/** The activity in the form of its webhook; undefined if no webhook reports it. */
async function eventOf(tempost: Tempost, activity: Activity): Promise<Event | undefined> {
	const { type, timestamp, metadata } = activity
	if (unknown.includes(type)) return undefined
	const person = { contactId: activity.contactId ?? null, email: activity.contactEmail ?? null }
	if (type === 'event.triggered')
		return {
			type: `event.${String(metadata['eventName'])}`,
			timestamp,
			data: {
				eventId: activity.id,
				name: metadata['eventName'],
				...person,
				emailId: metadata['emailId'] ?? null,
				data: metadata['data'] ?? {},
			},
		}
	const mail = type.startsWith('email.') ? await mailOf(tempost, activity) : {}
	return { type: types[type] ?? type, timestamp, data: { ...metadata, ...person, ...mail } }
}

/** Times of a mail by the activity that they belong to. */
const times = {
	'email.sent': 'sentAt',
	'email.delivered': 'deliveredAt',
	'email.opened': 'openedAt',
	'email.clicked': 'clickedAt',
	'email.bounced': 'bouncedAt',
	'email.complaint': 'complainedAt',
} as const

async function mailOf(tempost: Tempost, { type, timestamp, metadata }: Activity) {
	const id = metadata['emailId']
	if (typeof id !== 'string') return {}
	const mail = await tempost.emails.get(id)
	const time = times[type as keyof typeof times]
	return {
		emailId: id,
		email: type === 'email.received' ? mail.from : mail.to,
		to: mail.to,
		from: mail.from,
		subject: mail.subject,
		sourceType: mail.sourceType,
		templateId: mail.templateId,
		campaignId: mail.campaignId,
		executionId: mail.workflowExecutionId,
		...(time && { [time]: timestamp }),
		...(type === 'email.opened' && { opens: mail.opens }),
		...(type === 'email.clicked' && { clicks: mail.clicks }),
		...(mail.error !== null && { error: mail.error }),
	}
}
