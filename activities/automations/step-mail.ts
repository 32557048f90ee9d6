import type { PoolClient } from 'pg'
import { isEmail, normalizeEmail } from '../../db/address.ts'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import { exceeds } from '../../db/billing/usage-standing.ts'
import { insertStepMail, stepMailContext } from '../../db/executions/execution-mail.ts'
import { isTemplateError } from '../rendering/liquid.ts'
import { languageFor } from '../rendering/language.ts'
import type { Variables } from '../rendering/look-up.ts'
import { perform, renderText } from '../rendering/rendering.ts'
import { cutLine, cutText } from '../rendering/storable-text.ts'
import { type Links, linksFor } from '../rendering/variables.ts'
import { type Journey, take, variablesOf } from './journey.ts'

export interface StepSettings {
	publicUrl: string
	/** Whether projects pay for what they send, and have limits. */
	hasBilling?: boolean
}

/** Somebody whom we do not know as a contact has no pages of ours. */
const noLinks: Links = { unsubscribeUrl: '', subscribeUrl: '', manageUrl: '' }
const maxAddressLength = 254
/** As of a recipient that a request names. */
const maxNameLength = 255

/**
 * Writes the mail of a step into the ledger, from where a run of `send` delivers it. What may not go is
 * a FAILED row that says why, and the execution goes on. Answers what keeps it from going on.
 */
export async function sendStepMail(
	db: PoolClient,
	journey: Journey,
	step: Step<'SEND_EMAIL'>,
	{ publicUrl, hasBilling = false }: StepSettings,
): Promise<string | null> {
	const { key, execution, contact } = journey
	const { recipient } = step.config
	const isCustom = recipient.type === 'CUSTOM'
	const given = isCustom
		? normalizeEmail(
				await renderText(key.projectId, recipient.customEmail, variablesOf(journey, noLinks)),
			)
		: contact.email
	const isAddress = isEmail(given)
	// What a template makes of an address may be of any length.
	const to = isAddress ? given : cutText(given, maxAddressLength)
	const whose = isAddress ? to : null
	const [context] = await stepMailContext(db, [key.projectId, step.templateId, whose, hasBilling])
	const { template, addressee, emailId, visitId } = context!
	if (!template) return 'TemplateMissing: the template of this step no longer exists'

	const links = addressee ? linksFor(publicUrl, addressee.id, emailId) : noLinks
	const variables = variablesOf(journey, links)
	const { content, fault } = await contentOf(key.projectId, template, variables)
	const error = refusal(isAddress, context!) ?? fault
	const { locale, name } = contact.data
	const mail = {
		id: emailId,
		contactId: addressee?.id ?? null,
		to,
		// Anybody may have written any text there: a line break in a header is what no provider takes.
		toName: !isCustom && typeof name === 'string' ? cutLine(name, maxNameLength) || null : null,
		from: normalizeEmail(template.from),
		fromName: template.fromName ?? execution.projectName,
		replyTo: template.replyTo ? normalizeEmail(template.replyTo) : null,
		...content,
		contentLanguage: template.language ?? execution.language,
		language: languageFor(execution.context['locale'] ?? locale, execution.language),
		type: template.type,
		templateId: step.templateId,
		error,
	}
	await insertStepMail(db, [key.projectId, key.executionId, visitId, JSON.stringify(mail)])
	journey.hasMail ||= error === null
	journey.stopBeganAt = execution.now
	take(journey, step, error === null ? 'COMPLETED' : 'FAILED', {
		id: visitId,
		output: { emailId, recipientEmail: to, sentAt: null },
		error,
	})
	return null
}

type Context = Awaited<ReturnType<typeof stepMailContext>>[number]

function refusal(isAddress: boolean, { template, addressee, isVerified, limit }: Context) {
	if (!isAddress) return 'The address that this step gives is not an email address'
	if (!isVerified) return `The domain of ${template!.from} is not verified`
	if (template!.type !== 'TRANSACTIONAL' && addressee && !addressee.subscribed)
		return 'The contact is not subscribed'
	if (limit && exceeds(limit, 1))
		return `This month's limit of ${limit.limit} mails is reached (${limit.category})`
	return null
}

async function contentOf(
	projectId: string,
	{ subject, body }: NonNullable<Context['template']>,
	variables: Variables,
) {
	try {
		const { content } = await perform(projectId, 'content', { subject, body, variables })
		return { content, fault: null }
	} catch (error) {
		// A stored template may be older than our checks.
		if (!isTemplateError(error)) throw error
		const content = { subject: '', body: '', renderFault: null }
		return { content, fault: `The template cannot be read: ${error.message}` }
	}
}
