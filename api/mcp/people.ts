import { suppressionOf as findSuppression } from '../../db/emails/test-mail.ts'
import { findAddresses } from '../../db/contacts/contact-list.ts'
import { ApiError, invalid } from '../errors.ts'
import { normalizeEmail } from '../schemas.ts'
import type { Contact } from './answers.ts'
import { briefData } from './brief.ts'
import { path } from './route-calls.ts'
import type { ToolContext } from './tool.ts'

/** null: no contact has this address. */
export async function contactWith({ ask, pool, project }: ToolContext, address: string) {
	const emails = [normalizeEmail(address)]
	const [found] = await findAddresses(pool, { projectId: project.id, emails })
	return found ? ask<Contact>('GET', path`/contacts/${found.id}`) : null
}

/** The contact that a tool is about: by id or by address. */
export async function contactOf(
	context: ToolContext,
	{ contactId, address }: { contactId?: string; address?: string },
) {
	if (contactId !== undefined) return context.ask<Contact>('GET', path`/contacts/${contactId}`)
	if (address === undefined)
		throw invalid({ field: 'contactId', message: 'or address is required', code: 'required' })
	const contact = await contactWith(context, address)
	if (contact) return contact
	throw new ApiError(404, 'CONTACT_NOT_FOUND', 'There is no contact with this address', {
		suggestion: 'find_contact searches by a part of an address.',
	})
}

/** null: the address may get mail. */
export async function suppressionOf({ pool, project }: ToolContext, address: string) {
	const email = normalizeEmail(address)
	const [found] = await findSuppression(pool, { projectId: project.id, email })
	return found ? { email, reason: found.reason } : null
}

export const briefContact = (contact: Contact) => ({ ...contact, data: briefData(contact.data) })
