import { compile, render } from './liquid/liquid.ts'
import type { Variables } from './liquid/look-up.ts'
import { renderTextPart } from './liquid/plain.ts'
import { escapeHtml } from './liquid/printing.ts'

/** At least one of body and text. */
export interface ContentSource {
	subject: string
	/** Null: it is made from the text. */
	body: string | null
	/** Null: composing makes it from the body. */
	text?: string | null
}

/**
 * A mail's subject, body and own text part for one recipient. A fault never stops the mail: the part that
 * failed prints nothing.
 */
export function renderContent(source: ContentSource, variables: Variables) {
	const subject = render(compile(source.subject, 'subject'), variables)
	const text = typeof source.text === 'string' ? renderTextPart(source.text, variables) : null
	const body = source.body === null ? null : render(compile(source.body, 'body'), variables)
	const faults = [faultOf('subject', subject), faultOf('body', body), faultOf('text', text)].flat()
	return {
		subject: subject.text,
		body: body?.text ?? htmlOf(text?.text ?? ''),
		text: text?.text ?? null,
		renderFault: faults.join('. ') || null,
	}
}

const faultOf = (part: string, rendered: { fault: string | null } | null) =>
	rendered?.fault ? [`In the ${part}, ${rendered.fault}`] : []

/** A text as HTML, with its paragraphs and line breaks. */
export const htmlOf = (text: string) =>
	text
		.split(/(?:\r?\n){2,}/)
		.filter((part) => part !== '')
		.map((part) => `<p>${escapeHtml(part).replaceAll(/\r?\n/g, '<br>\n')}</p>`)
		.join('\n')
