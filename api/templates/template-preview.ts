import { Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import { dataProblems, splitData } from '../../db/contacts/contact-data.ts'
import { languageFor } from '../../mail/language.ts'
import { perform } from '../../mail/rendering.ts'
import { linksFor, variablesFor } from '../../mail/liquid/variables.ts'
import { Contact } from '../../db/contacts/contact.ts'
import type { TemplateRecord } from '../../db/templates/template-records.ts'
import { invalid, notFound } from '../errors.ts'
import { Component } from '../schemas.ts'

export const Preview = Component('TemplatePreview', {
	subject: Type.String(),
	html: Type.String(),
	text: Type.String(),
	unset: Type.Array(Type.String()),
})

/** Content of a template or campaign, or the content of a mail that has a text part of its own. */
export type PreviewedContent = Pick<
	TemplateRecord,
	'subject' | 'body' | 'from' | 'fromName' | 'replyTo' | 'type' | 'language'
> & { text?: string | null }

/** Used if no contact is given: its links lead to pages that say so. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The mail as this contact would get it, and the variables that have no value. */
export async function previewOf(
	em: EntityManager,
	project: { id: string; language: string; postalAddress: string | null },
	template: PreviewedContent,
	{ data = {}, contactId }: { data?: Record<string, unknown>; contactId?: string },
	publicUrl: string,
) {
	const problems = dataProblems(data)
	if (problems.length > 0) throw invalid(...problems)
	const contact = contactId
		? await em.findOne(Contact, { projectId: project.id, id: contactId })
		: null
	if (contactId && !contact) throw notFound('contact', contactId)
	const { stored, removed, once } = splitData(data)
	const kept = { ...contact?.data }
	for (const key of removed) delete kept[key]
	const person = {
		id: contact?.id ?? nobody,
		email: contact?.email ?? 'someone@example.com',
		subscribed: contact?.subscribed ?? true,
		data: kept,
	}
	const variables = variablesFor(person, linksFor(publicUrl, person.id), { ...stored, ...once })
	const { subject, body, text: ownText = null } = template
	const texts = { subject, body, text: ownText, variables }
	const { unset, ...rendered } = await perform(project.id, 'preview', texts)
	const { html, text } = await perform(project.id, 'compose', {
		mail: {
			emailId: nobody,
			projectId: project.id,
			contactId: person.id,
			from: { email: template.from, name: template.fromName },
			to: { email: person.email, name: null },
			replyTo: template.replyTo,
			...rendered,
			headers: null,
			contentLanguage: template.language ?? project.language,
			language: languageFor(variables['locale'], project.language),
			postalAddress: project.postalAddress,
			type: template.type,
			createdAt: new Date(),
		},
		publicUrl,
		tracking: null,
	})
	return { subject: rendered.subject, html, text, unset }
}
