import type { FastifyRequest } from 'fastify'
import { isMainThread } from 'node:worker_threads'
import type { Pool } from 'pg'
import { bytesOfContacts } from '../../db/contacts/contact-list.ts'
import type { AskedContext } from '../../db/emails/acceptance.ts'
import type { Acceptance } from '../../db/emails/acceptance-groups.ts'
import { isClaimLost } from '../../db/idempotency-key.ts'
import { tracer } from '../../outside/telemetry/tracer.ts'
import { ApiError, type FieldError, notFound } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { createEffort, LargeMails } from './send-effort.ts'
import { acceptWithinLimit, refuseOver } from './send-limit.ts'
import { planMessage } from './send-mails.ts'
import { createPeople } from './send-people.ts'
import {
	maxProblems,
	readSend,
	refused,
	type SendBody,
	type SendLimits,
	type SendRequest,
} from './send-request.ts'
import { checkSender, domainOf } from './sender.ts'

const tries = 5
/** Each has at most 64 KB of data. */
const fewContacts = 4
const mostDataOnLoop = 256 * 2 ** 10

/** The parts of a request that are known before its body is read. */
export type Asked = Pick<FastifyRequest, 'project' | 'idempotency' | 'headers'>

export interface SendOptions extends SendLimits {
	publicUrl: string
	features: { billing: boolean }
}

/** A message as it was asked for. `at` precedes the names of its fields in errors: `1.` in a batch. */
export interface Message {
	at: string
	body: SendBody
	faults: FieldError[]
}

export type PlannedMessage = Awaited<ReturnType<typeof planMessage>>
/** The answer, and its stored form, which has no addresses: see db/idempotency-key.ts. */
type AnswerOf<Answer> = (messages: PlannedMessage[]) => { answer: Answer; stored: object }

/** Takes parsed messages to their answer: they are refused, or written as a whole. */
export async function acceptMessages<Answer>(
	acceptance: Acceptance,
	asked: Asked,
	messages: Message[],
	options: SendOptions,
	answerOf: AnswerOf<Answer>,
) {
	const { project, idempotency } = asked
	const wanted = await readMessages(project.id, messages, options)
	if (isMainThread && (await isMuchData(acceptance.pool, project.id, wanted)))
		throw new LargeMails('The data of these contacts is large')
	for (let attempt = 1; ; attempt++) {
		const plan = await planMessages(acceptance, asked, wanted, options)
		const { answer, stored } = answerOf(plan.messages)
		try {
			const { weight, limit } = plan
			await acceptWithinLimit(
				acceptance,
				{ projectId: project.id, weight, limit },
				{
					projectId: project.id,
					contacts: plan.people.map(({ id, email, name, change, oldData, isChanged }) => ({
						id,
						email,
						name,
						change,
						isNew: oldData === null,
						isChanged,
					})),
					messages: plan.messages,
					key: idempotency?.key ?? null,
					claimId: idempotency?.claimId ?? null,
					response: idempotency ? stored : null,
					trace: tracer.current(),
				},
			)
		} catch (error) {
			if (attempt < tries && isLostRace(error)) continue
			if (isClaimLost(error)) throw claimLost(asked)
			throw error
		}
		return answer
	}
}

type Wanted = Omit<Message, 'faults'> & { wanted: SendRequest }

/** Everything that the messages alone show to be wrong, in one answer. */
async function readMessages(projectId: string, messages: Message[], options: SendOptions) {
	const problems: FieldError[] = []
	const sound: Wanted[] = []
	for (const { at, body, faults } of messages) {
		const read = await readSend(projectId, body, options, faults)
		if ('problems' in read) problems.push(...read.problems.map((one) => placed(at, one)))
		else sound.push({ at, body, wanted: read.wanted })
		if (problems.length >= maxProblems) break
	}
	if (problems.length > 0) throw refused(problems.slice(0, maxProblems))
	return sound
}

/** Decides everything that is written, by what the database has at this time. */
async function planMessages(
	acceptance: Acceptance,
	{ project }: Asked,
	wanted: Wanted[],
	{ publicUrl, features }: SendOptions,
) {
	const { contextOf, contacts, limit, nextId } = await readContexts(
		acceptance,
		project.id,
		wanted,
		features.billing,
	)
	const people = createPeople(contacts)
	const plan = { sender: { project, publicUrl }, people, effort: createEffort(), nextId }
	const sound = wanted.map((message) =>
		naming(message.at, () => {
			const { body, wanted } = message
			const { template, verified } = contextOf(message)
			if (body.template && !template) throw notFound('template', body.template)
			checkSender(wanted.from?.email ?? template!.from, verified)
			return { at: message.at, body, wanted, template }
		}),
	)
	let weight = 0
	for (const { wanted } of sound)
		weight += wanted.recipients.length * (wanted.files.length > 0 ? 2 : 1)
	refuseOver(limit, weight)
	const messages = []
	for (const { at, ...message } of sound)
		messages.push(await planMessage(plan, message).catch((error: unknown) => rename(at, error)))
	return { messages, people: people.all(), weight, limit }
}

/** Messages with the same template and domain share a question. */
async function readContexts(
	{ contextFor, contextsFor }: Acceptance,
	projectId: string,
	wanted: Wanted[],
	hasLimits: boolean,
) {
	const questions = new Map<string, AskedContext>()
	const keyOf = ({ body: { template = '' }, wanted: { from } }: Wanted) =>
		`${template} ${from ? domainOf(from.email) : ''}`
	for (const message of wanted) {
		const { body, wanted } = message
		const question = questions.get(keyOf(message)) ?? {
			templateId: body.template ?? null,
			domain: wanted.from ? domainOf(wanted.from.email) : null,
			emails: [],
			idCount: 0,
		}
		questions.set(keyOf(message), question)
		for (const { email } of wanted.recipients) question.emails.push(email)
		question.idCount += 1 + 2 * wanted.recipients.length
	}
	for (const question of questions.values()) question.emails = [...new Set(question.emails)]
	const asked = [...questions.values()]
	const contexts =
		asked.length === 1
			? [await contextFor(projectId, asked[0]!, hasLimits)]
			: await contextsFor(projectId, asked, hasLimits)
	const byKey = new Map([...questions.keys()].map((key, place) => [key, contexts[place]!]))
	const ids = contexts.flatMap(({ ids }) => ids).values()
	return {
		contextOf: (message: Wanted) => byKey.get(keyOf(message))!,
		contacts: contexts.flatMap(({ contacts }) => contacts),
		limit: contexts[0]!.limit,
		nextId: () => ids.next().value!,
	}
}

const placed = (at: string, error: FieldError) => ({
	...error,
	field: `${at}${error.field}`.replace(/\.$/, ''),
})

function naming<Result>(at: string, check: () => Result) {
	try {
		return check()
	} catch (error) {
		return rename(at, error)
	}
}

/** A refusal of one message of a batch says which. */
function rename(at: string, error: unknown): never {
	if (at !== '' && error instanceof ApiError) {
		const { errors, details } = error.extras
		if (errors) error.extras.errors = errors.map((one) => placed(at, one))
		else error.extras.details = { ...details, message: Number.parseInt(at) }
	}
	throw error
}

/** Whether reading and checking these contacts' old and new data takes long. */
async function isMuchData(pool: Pool, projectId: string, wanted: Wanted[]) {
	const emails = new Set(
		wanted.flatMap(({ wanted }) => wanted.recipients.map(({ email }) => email)),
	)
	if (emails.size <= fewContacts) return false
	const [stored] = await bytesOfContacts(pool, { projectId, emails: [...emails] })
	let bytes = stored!.bytes
	for (const {
		body,
		wanted: { recipients },
	} of wanted)
		if (body.data) bytes += recipients.length * Buffer.byteLength(JSON.stringify(body.data))
	return bytes > mostDataOnLoop
}

/**
 * Between our read and our write another request created one of our new contacts, deleted a contact or the
 * template, or changed a contact's address. Reading again shows it.
 */
const racedFor = new Set([
	'emails_contact',
	'emails_template',
	'contacts_pkey',
	'contacts_project_id_id_unique',
	'contacts_project_id_email_unique',
])

const isLostRace = (error: unknown) => {
	const { code, constraint } = error as { code?: string; constraint?: string }
	// Or both wanted the same contacts in another order.
	return code === '40P01' || (constraint !== undefined && racedFor.has(constraint))
}
