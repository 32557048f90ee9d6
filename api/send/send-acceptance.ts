import type { FastifyRequest } from 'fastify'
import { isMainThread } from 'node:worker_threads'
import type { Pool } from 'pg'
import { limitUnderLock } from '../../db/billing/usage-standing.ts'
import { bytesOfContacts } from '../../db/contacts/contact-list.ts'
import { type AcceptedSend, acceptSend } from '../../db/emails/acceptance.ts'
import type { Acceptance } from '../../db/emails/acceptance-groups.ts'
import { lockThrottled } from '../../db/emails/throttling.ts'
import { isClaimLost } from '../../db/idempotency-key.ts'
import { inChunk } from '../../db/transaction.ts'
import { tracer } from '../../outside/telemetry/tracer.ts'
import type { FieldError } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { LargeMails } from './send-effort.ts'
import type { FileLimits } from './send-files.ts'
import { acceptWithinLimit, refuseOver } from './send-limit.ts'
import type { PlannedMessage } from './send-mails.ts'
import type { Person } from './send-people.ts'
import { placed } from './send-places.ts'
import { planMessages, type Wanted, weightOf } from './send-plan.ts'
import { maxProblems, readSend, refused, type SendBody } from './send-request.ts'
import { withoutEarlier } from './send-throttle.ts'

const tries = 5
/** Each has at most 64 KB of data. */
const fewContacts = 4
const mostDataOnLoop = 256 * 2 ** 10

/** The parts of a request that are known before its body is read. */
export type Asked = Pick<FastifyRequest, 'project' | 'idempotency' | 'headers'>

export interface SendOptions extends FileLimits {
	publicUrl: string
	features: { billing: boolean }
}

/** A message as it was asked for. `at` precedes the names of its fields in errors: `1.` in a batch. */
export interface Message {
	at: string
	body: SendBody
	faults: FieldError[]
}

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
				? acceptance.inQueue(project.id, () => acceptThrottled(acceptance, request))
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
	const plan = await planMessages(acceptance, request, false)
	const { answer, accepted } = resultOf(plan.messages, plan.people, request)
	const { weight, limit } = plan
	const taken = { projectId: accepted.projectId, weight, limit }
	await acceptWithinLimit(acceptance, taken, accepted)
	return answer
}

/**
 * Of several requests for the same recipients one goes at a time. All is rendered before: the transaction holds a
 * connection, and gives it back if another process has the locks.
 */
async function acceptThrottled<Answer>(acceptance: Acceptance, request: Request<Answer>) {
	const { asked, wanted } = request
	const projectId = asked.project.id
	const plan = await planMessages(acceptance, request, true)
	return inChunk(acceptance.pool, async (db) => {
		await lockThrottled(db, { projectId, emails: addressesOf(wanted) })
		const messages = await withoutEarlier(db, projectId, wanted, plan.messages)
		const { answer, accepted } = resultOf(messages, plan.people, request)
		const weight = weightOf(wanted, (_message, place) => messages[place]!.mails.length)
		if (plan.limit) refuseOver(await limitUnderLock(db, projectId), weight)
		await acceptSend(db, accepted)
		return answer
	})
}

function resultOf<Answer>(
	messages: PlannedMessage[],
	people: Person[],
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
