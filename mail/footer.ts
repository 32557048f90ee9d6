import { directionOf, primaryLanguage } from './language.ts'
import { escapeHtml } from './liquid/printing.ts'
import { tagsIn } from './text/tags.ts'

interface FooterWords {
	reason: string
	unsubscribe: string
	manage: string
}

const english = {
	reason: 'You receive this email because you are subscribed.',
	unsubscribe: 'Unsubscribe',
	manage: 'Manage preferences',
}

const words: Record<string, FooterWords> = {
	en: english,
	de: {
		reason: 'Sie erhalten diese E-Mail, weil Sie sie abonniert haben.',
		unsubscribe: 'Abmelden',
		manage: 'Einstellungen verwalten',
	},
	fr: {
		reason: 'Vous recevez cet e-mail parce que vous y êtes abonné(e).',
		unsubscribe: 'Se désabonner',
		manage: 'Gérer mes préférences',
	},
	es: {
		reason: 'Recibe este correo porque está suscrito.',
		unsubscribe: 'Darse de baja',
		manage: 'Gestionar preferencias',
	},
	nl: {
		reason: 'U ontvangt deze e-mail omdat u bent ingeschreven.',
		unsubscribe: 'Uitschrijven',
		manage: 'Voorkeuren beheren',
	},
}

// No grey is legible on every background (WCAG AA), so the footer has a background of its own. Our layout
// has dark-mode colours. A customer's design may stay light in dark mode, so its footer stays light too.
const style =
	'max-width:600px;margin:24px auto 0;padding:16px 20px;text-align:center;' +
	'font-family:Arial,sans-serif;font-size:12px;line-height:1.6;background-color:#ffffff;color:#595f69'

export interface FooterLinks {
	unsubscribeUrl: string
	manageUrl: string
}

/** The footer that marketing mail requires, in the reader's language if we have it. */
export function footerFor(
	language: string,
	links: FooterLinks,
	postalAddress?: string | null,
): string {
	const spoken = words[primaryLanguage(language)] ? primaryLanguage(language) : 'en'
	const { reason, unsubscribe, manage } = words[spoken] ?? english
	return (
		`<div lang="${spoken}" dir="${directionOf(spoken)}" class="tempost-footer" style="${style}"><p style="margin:0">` +
		`${reason}<br>${link(links.unsubscribeUrl, unsubscribe)} &middot; ${link(links.manageUrl, manage)}` +
		`</p>${postalAddress ? `<p dir="auto" style="margin:8px 0 0">${linesOf(postalAddress)}</p>` : ''}</div>`
	)
}

/** Before the last `</body>`. A fragment has none, so the footer comes at its end. */
export function insertFooter(html: string, footer: string): string {
	const end = endOfBody(html)
	return html.slice(0, end) + footer + html.slice(end)
}

/** A `</body>` in a comment or a script ends nothing. */
function endOfBody(html: string) {
	let end = html.length
	for (const { begin, name, isClosing } of tagsIn(html))
		if (isClosing && name === 'body') end = begin
	return end
}

const linesOf = (text: string) => text.split('\n').map(escapeHtml).join('<br>')

function link(url: string, text: string) {
	return `<a href="${escapeHtml(url)}" style="color:#595f69">${text}</a>`
}
