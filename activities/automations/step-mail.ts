import type { PoolClient } from 'pg'
import { isEmail, normalizeEmail } from '../../db/address.ts'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import { exceeds } from '../../db/billing/usage-standing.ts'
import { insertStepMail, stepMailContext } from '../../db/executions/execution-mail.ts'
import { isTemplateError } from '../../mail/liquid/liquid.ts'
import { languageFor } from '../../mail/language.ts'
import type { Variables } from '../../mail/liquid/look-up.ts'
import { perform, renderText } from '../../mail/rendering.ts'
import { cutLine, cutText } from '../../db/storable-text.ts'
import { type Links, linksFor } from '../../mail/liquid/variables.ts'
import { type Journey, take, variablesOf } from './journey.ts'

export interface StepSettings {
	publicUrl: string
	/** Whether projects pay for sending and have limits. */
	hasBilling?: boolean
}

/** An address that is not a contact has no subscription pages. */
const noLinks: Links = { unsubscribeUrl: '', subscribeUrl: '', manageUrl: '' }
const maxAddressLength = 254
/** The limit for a recipient's name in a request. */
const maxNameLength = 255

/**
 * Writes a step's mail into the ledger; a run of `send` delivers it. A mail that may not be sent becomes a
 * FAILED row with the reason, and the execution continues. Returns a reason if the execution can't
 * continue.
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
	// A template may render an address of any length.
	const to = isAddress ? given : cutText(given, maxAddressLength)
	const whose = isAddress ? to : null
	const [context] = await stepMailContext(db, {
		projectId: key.projectId,
		templateId: step.templateId,
		email: whose,
		hasLimits: hasBilling,
	})
	const { template, addressee, id } = context!
	if (!template) return 'TemplateMissing: the template of this step no longer exists'

	const links = addressee ? linksFor(publicUrl, addressee.id, id) : noLinks
	const variables = variablesOf(journey, links)
	const { content, fault } = await contentOf(key.projectId, template, variables)
	const error = refusal(isAddress, context!) ?? fault
	const { locale, name } = contact.data
	const mail = {
		id,
		contactId: addressee?.id ?? null,
		aboutContactId: addressee?.id === contact.id ? null : contact.id,
		to,
		// The name is a contact's data and may hold any text; no provider accepts a line break in a header.
		toName: !isCustom && typeof name === 'string' ? cutLine(name, maxNameLength) || null : null,
		from: normalizeEmail(template.from),
		fromName: template.fromName || execution.projectName,
		replyTo: template.replyTo ? normalizeEmail(template.replyTo) : null,
		...content,
		contentLanguage: template.language ?? execution.language,
		language: languageFor(execution.context['locale'] ?? locale, execution.language),
		type: template.type,
		templateId: step.templateId,
		error,
	}
	await insertStepMail(db, {
		projectId: key.projectId,
		executionId: key.executionId,
		mail,
	})
	journey.hasMail ||= error === null
	take(journey, step, error === null ? 'COMPLETED' : 'FAILED', {
		id,
		output: { emailId: id, recipientEmail: to, sentAt: null },
		error,
	})
	return null
}

type Context = Awaited<ReturnType<typeof stepMailContext>>[number]

function refusal(isAddress: boolean, { template, addressee, isVerified, limit }: Context) {
	if (!isAddress) return 'The address in this step is not an email address'
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
