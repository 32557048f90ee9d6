import { render, type Template } from './liquid/liquid.ts'
import type { Variables } from './liquid/look-up.ts'

/**
 * A mail's subject and body for one recipient. A fault never stops the mail: the part that failed prints
 * nothing.
 */
export function renderContent(subject: Template, body: Template, variables: Variables) {
	const ofSubject = render(subject, variables)
	const ofBody = render(body, variables)
	const faults = [
		ofSubject.fault === null ? [] : `In the subject, ${ofSubject.fault}`,
		ofBody.fault === null ? [] : `In the body, ${ofBody.fault}`,
	].flat()
	return { subject: ofSubject.text, body: ofBody.text, renderFault: faults.join('. ') || null }
}
