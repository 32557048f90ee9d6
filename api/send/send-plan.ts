import type { AskedContext } from '../../db/emails/acceptance-contexts.ts'
import type { Reading } from '../../db/emails/acceptance-groups.ts'
import { notFound } from '../errors.ts'
import { createEffort } from './send-effort.ts'
import { refuseMarketingCopies } from './send-copies.ts'
import { refuseOver } from './send-limit.ts'
import { planMessage, type PlannedMessage, type Sender } from './send-mails.ts'
import { createPeople } from './send-people.ts'
import { naming, rename } from './send-places.ts'
import type { SendBody, SendRequest } from './send-request.ts'
import { checkSender, domainOf } from './sender.ts'

/** A sound message. `at` precedes the names of its fields in errors: `1.` in a batch. */
export interface Wanted {
	at: string
	body: SendBody
	wanted: SendRequest
}

interface PlannedRequest {
	asked: { project: Sender['project'] }
	wanted: Wanted[]
	options: { publicUrl: string; features: { billing: boolean } }
}

/**
 * Decides everything that is written, by what the database has at this time. `isThrottled`: some of it may be left out, so
 * it is weighed later.
 */
export async function planMessages(
	reading: Reading,
	{ asked: { project }, wanted, options: { publicUrl, features } }: PlannedRequest,
	isThrottled: boolean,
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
			refuseMarketingCopies(wanted.copies, template?.type)
			checkSender(wanted.from?.email ?? template!.from, verified)
			return { at: message.at, body, wanted, template }
		}),
	)
	const weight = weightOf(wanted, ({ wanted }) => wanted.recipients.length)
	if (!isThrottled) refuseOver(limit, weight)
	const sender = { project, publicUrl }
	const plan = { sender, people, effort: createEffort(), nextId }
	const messages: PlannedMessage[] = []
	for (const { at, ...message } of sound)
		messages.push(await planMessage(plan, message).catch((error: unknown) => rename(at, error)))
	return { messages, people: people.all(), weight, limit }
}

/** A mail with files counts twice. */
export const weightOf = <One extends { wanted: SendRequest }>(
	messages: One[],
	count: (message: One, place: number) => number,
) =>
	messages.reduce(
		(sum, message, place) =>
			sum + count(message, place) * (message.wanted.files.length > 0 ? 2 : 1),
		0,
	)

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
			subscribes: false,
			idCount: 0,
		}
		questions.set(keyOf(message), question)
		for (const { email } of wanted.recipients) question.emails.push(email)
		question.subscribes ||= body.subscribed === true
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
