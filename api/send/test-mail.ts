import { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { meter } from '../../outside/telemetry/meter.ts'
import { Contact } from '../../db/contacts/contact.ts'
import { memberWith, queueTestMail, suppressionOf } from '../../db/emails/test-mail.ts'
import { ApiError } from '../errors.ts'
import { normalizeEmail } from '../schemas.ts'
import { type PreviewedContent, previewOf } from '../templates/template-preview.ts'
import { requireSender } from './sender.ts'

export interface TestMailOptions {
	pool: Pool
	publicUrl: string
	emailProvider: string
}

interface Asked {
	content: PreviewedContent
	to: string
	data?: Record<string, unknown> | undefined
	/** Absent: the contact that has the address, if there is one. */
	contactId?: string | undefined
}

const maxSubjectLength = 998

/** Shows content to its author before it is sent to others. */
export function testMailer(app: FastifyInstance, options: TestMailOptions) {
	const { pool, publicUrl, emailProvider } = options

	return async function sendTest({ em, project, routeOptions }: FastifyRequest, asked: Asked) {
		const { content, data = {} } = asked
		const to = normalizeEmail(asked.to)
		if (emailProvider !== 'local') await requireMember(project.id, to)
		await requireSender(em, project.id, content.from)
		await refuseSuppressed(project.id, to)
		const by = asked.contactId === undefined ? { email: to } : { id: asked.contactId }
		const contact = await em.findOne(Contact, { projectId: project.id, ...by })
		const contactId = asked.contactId ?? contact?.id
		const person = { data, ...(contactId !== undefined && { contactId }) }
		const { subject, html } = await previewOf(em, project, content, person, publicUrl)
		const locale = data['locale'] ?? contact?.data['locale']
		await queueTestMail(pool, {
			projectId: project.id,
			to,
			from: content.from,
			fromName: content.fromName || project.name,
			replyTo: content.replyTo,
			subject: `[TEST] ${subject}`.slice(0, maxSubjectLength),
			body: html,
			language: typeof locale === 'string' ? locale : project.language,
		})
		app.relay.wake()
		meter.accepted(routeOptions.url!, 1)
		return { message: `A test is on its way to ${to}` }
	}

	async function refuseSuppressed(projectId: string, email: string) {
		const [suppressed] = await suppressionOf(pool, { projectId, email })
		if (!suppressed) return
		const { reason } = suppressed
		throw new ApiError(409, 'CONFLICT', `${email} is on the suppression list: ${reason}`, {
			details: { email, reason },
			suggestion: 'Use another address, or remove this one with DELETE /suppressions/{email}.',
		})
	}

	async function requireMember(projectId: string, email: string) {
		const [member] = await memberWith(pool, { projectId, email })
		if (member) return
		throw new ApiError(403, 'FORBIDDEN', 'Tests can be sent only to members of the project', {
			suggestion: 'Use the address of a member, or invite its owner to the project.',
		})
	}
}
