import type { FastifyRequest } from 'fastify'
import { isMainThread } from 'node:worker_threads'
import type { Pool, PoolClient } from 'pg'
import { bytesOfContacts } from '../../db/contacts/contact-list.ts'
import { limitUnderLock } from '../../db/billing/usage-standing.ts'
import {
	type AcceptedSend,
	acceptSend,
	type AskedContext,
	type SendContext,
} from '../../db/emails/acceptance.ts'
import { type Acceptance, type Reading, readingOn } from '../../db/emails/acceptance-groups.ts'
import { lockThrottled } from '../../db/emails/throttling.ts'
import { transaction } from '../../db/transaction.ts'
import { isClaimLost } from '../../db/idempotency-key.ts'
import { tracer } from '../../outside/telemetry/tracer.ts'
import { ApiError, type FieldError, notFound } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { createEffort, LargeMails } from './send-effort.ts'
import { acceptWithinLimit, refuseOver } from './send-limit.ts'
import { likenessOf, planMessage, type SoundMessage } from './send-mails.ts'
import { createThrottle } from './send-throttle.ts'
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
	const { project } = asked
	const wanted = await readMessages(project.id, messages, options)
	if (isMainThread && (await isMuchData(acceptance.pool, project.id, wanted)))
		throw new LargeMails('The data of these contacts is large')
	const request = { asked, wanted, options, answerOf }
	const isThrottled = wanted.some(({ wanted }) => wanted.throttleMs !== null)
	for (let attempt = 1; ; attempt++)
		try {
			return await (isThrottled
				? acceptThrottled(acceptance.pool, request)
				: acceptAtOnce(acceptance, request))
		} catch (error) {
			if (attempt < tries && isLostRace(error)) continue
			if (isClaimLost(error)) throw claimLost(asked)
			throw error
		}
}

interface Request<Answer> {
	asked: Asked
	wanted: Wanted[]
	options: SendOptions
	answerOf: AnswerOf<Answer>
}

async function acceptAtOnce<Answer>(acceptance: Acceptance, request: Request<Answer>) {
	const plan = await planMessages(acceptance, request, null)
	const { answer, accepted } = resultOf(plan, request)
	const { weight, limit } = plan
	const taken = { projectId: accepted.projectId, weight, limit }
	await acceptWithinLimit(acceptance, taken, accepted)
	return answer
}

/** Of several requests for the same recipients one goes at a time. What is skipped is known before limits are asked. */
const acceptThrottled = <Answer>(pool: Pool, request: Request<Answer>) =>
	transaction(pool, async (db) => {
		const { id: projectId } = request.asked.project
		await lockThrottled(db, { projectId, emails: addressesOf(request.wanted) })
		const plan = await planMessages(readingOn(db), request, db)
		const { answer, accepted } = resultOf(plan, request)
		if (plan.limit) refuseOver(await limitUnderLock(db, projectId), plan.weight)
		await acceptSend(db, accepted)
		return answer
	})

function resultOf<Answer>(
	{ messages, people }: Awaited<ReturnType<typeof planMessages>>,
	{ asked: { project, idempotency }, answerOf }: Request<Answer>,
) {
	const { answer, stored } = answerOf(messages)
	const accepted: AcceptedSend = {
		projectId: project.id,
		contacts: people.map(({ id, email, name, change, oldData, isChanged }) => ({
			id,
			email,
			name,
			change,
			isNew: oldData === null,
			isChanged,
		})),
		messages,
		key: idempotency?.key ?? null,
		claimId: idempotency?.claimId ?? null,
		response: idempotency ? stored : null,
		trace: tracer.current(),
	}
	return { answer, accepted }
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

/** Decides everything that is written, by what the database has at this time. `locked`: for throttled messages. */
async function planMessages<Answer>(
	reading: Reading,
	{ asked: { project }, wanted, options: { publicUrl, features } }: Request<Answer>,
	locked: PoolClient | null,
) {
	const { contextOf, contacts, limit, nextId } = await readContexts(
		reading,
		project.id,
		wanted,
		features.billing,
	)
	const people = createPeople(contacts)
	const sound = wanted.map((message) =>
		naming(message.at, () => {
			const { body, wanted } = message
			const { template, verified } = contextOf(message)
			if (body.template && !template) throw notFound('template', body.template)
			checkSender(wanted.from?.email ?? template!.from, verified)
			return { at: message.at, body, wanted, template }
		}),
	)
	// Throttled messages are weighed once it is known what they send.
	if (!locked)
		refuseOver(
			limit,
			weightOf(sound, ({ wanted }) => wanted.recipients.length),
		)
	const throttle = locked && (await throttleFor(locked, project.id, sound, contacts))
	const sender = { project, publicUrl }
	const plan = { sender, people, effort: createEffort(), throttle, nextId }
	const messages: PlannedMessage[] = []
	for (const { at, ...message } of sound)
		messages.push(await planMessage(plan, message).catch((error: unknown) => rename(at, error)))
	const weight = weightOf(sound, (_message, place) => messages[place]!.mails.length)
	return { messages, people: people.all(), weight, limit }
}

/** A mail with files counts twice. */
const weightOf = <One extends { wanted: SendRequest }>(
	messages: One[],
	count: (message: One, place: number) => number,
) =>
	messages.reduce(
		(sum, message, place) =>
			sum + count(message, place) * (message.wanted.files.length > 0 ? 2 : 1),
		0,
	)

async function throttleFor(
	db: PoolClient,
	projectId: string,
	messages: SoundMessage[],
	contacts: SendContext['contacts'],
) {
	const throttle = createThrottle()
	const ids = new Map(contacts.map(({ email, id }) => [email, id]))
	const asked = messages.flatMap(({ body, wanted }) => {
		const like = likenessOf(body, wanted)
		return wanted.recipients.flatMap(({ email }) => {
			const contactId = ids.get(email)
			return contactId ? { contactId, like } : []
		})
	})
	await throttle.load(db, projectId, asked)
	return throttle
}

/** Messages with the same template and domain share a question. */
async function readContexts(
	{ contextFor, contextsFor }: Reading,
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

const addressesOf = (wanted: Wanted[]) => [
	...new Set(wanted.flatMap(({ wanted }) => wanted.recipients.map(({ email }) => email))),
]

/** Whether reading and checking these contacts' old and new data takes long. */
async function isMuchData(pool: Pool, projectId: string, wanted: Wanted[]) {
	const emails = addressesOf(wanted)
	if (emails.length <= fewContacts) return false
	const [stored] = await bytesOfContacts(pool, { projectId, emails })
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
