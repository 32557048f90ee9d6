import { compile, render } from '../liquid/liquid.ts'
import type { Variables } from '../liquid/look-up.ts'
import { linksFor, variablesFor } from '../liquid/variables.ts'

/** One mail of a campaign, with the data it is rendered from. */
export interface CampaignMailSource {
	id: string
	subject: string
	body: string
	contact_id: string | null
	email: string
	subscribed: boolean
	data: Variables
}

const nobody = '00000000-0000-0000-0000-000000000000'

/**
 * Subject and body of a campaign's mail. They are not stored, so they are rendered from the contact's
 * current data.
 */
export function renderCampaignMail(mail: CampaignMailSource, publicUrl: string) {
	const contactId = mail.contact_id ?? nobody
	const { email, subscribed, data } = mail
	const links = linksFor(publicUrl, contactId, mail.id)
	const variables = variablesFor({ id: contactId, email, subscribed, data }, links)
	return {
		subject: render(compile(mail.subject, 'subject'), variables).text,
		body: render(compile(mail.body, 'body'), variables).text,
		locale: data['locale'],
	}
}
