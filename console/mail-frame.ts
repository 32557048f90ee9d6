/**
 * The page in the frame of a mail. It has an opaque origin and a policy of its own, under which nothing of the mail can
 * run, reach the console or, until its reader asks, load anything. The console gives it the HTML of a mail, and it tells
 * what the frame needs.
 */
import './mail-frame.css'

export interface MailForFrame {
	kind: 'mail'
	html: string
	/** Whether a mail without colours of its own is shown as a mail program in the dark shows it. */
	isDark: boolean
	hasImages: boolean
}
export interface NeedOfMail {
	kind: 'ready' | 'shown'
	height: number
	/** Whether there are images that were not loaded. */
	isHeldBack: boolean
}

const foreign = /^\s*(?:https?:)?\/\//i
/** An address that is not closed ends with the text, so that no text is read again and again. */
const foreignUrl = /url\(\s*(?:['"]\s*)?(?:https?:)?\/\/[^)]*\)?/gi
const imports = /@import[^;]*;?/gi

let isHeldBack = false
const observer = new ResizeObserver(tellNeed)

addEventListener('message', ({ source, data }: MessageEvent<MailForFrame>) => {
	if (source === parent && data.kind === 'mail') show(data)
})
parent.postMessage({ kind: 'ready', height: 0, isHeldBack } satisfies NeedOfMail, '*')

function show({ html, isDark, hasImages }: MailForFrame) {
	const mail = new DOMParser().parseFromString(html, 'text/html')
	disarm(mail)
	isHeldBack = !hasImages && holdBackImages(mail)
	const { documentElement: root } = document
	for (const name of root.getAttributeNames()) root.removeAttribute(name)
	for (const { name, value } of mail.documentElement.attributes) root.setAttribute(name, value)
	root.classList.toggle('dark', isDark && takesDark(mail))
	document.head.querySelectorAll('[data-of-mail]').forEach((style) => style.remove())
	for (const style of mail.head.querySelectorAll('style')) {
		style.dataset['ofMail'] = ''
		document.head.append(style)
	}
	document.body.replaceWith(mail.body)
	// The observer reports the height once the mail has been laid out, in a task of its own.
	observer.disconnect()
	observer.observe(document.body)
}

/** A mail with backgrounds of its own stays light unless it says that it has dark colours, as in mail programs. */
function takesDark(mail: Document) {
	const styles = [...mail.querySelectorAll('style')].map(({ textContent }) => textContent).join(' ')
	if (/color-scheme/.test(styles) || mail.querySelector('meta[name="color-scheme"]')) return true
	const painted = '[bgcolor], [background], [style*="background"]'
	return !/background/.test(styles) && !mail.querySelector(painted)
}

/** The policy forbids all of this as well. */
function disarm(mail: Document) {
	const active = 'script, base, meta[http-equiv], iframe, object, embed, link'
	for (const element of mail.querySelectorAll(active)) element.remove()
	for (const link of mail.querySelectorAll('a, area, form')) {
		link.setAttribute('target', '_blank')
		link.setAttribute('rel', 'noopener noreferrer')
	}
}

function holdBackImages(mail: Document) {
	let isAny = false
	const without = (text: string, pattern: RegExp, instead: string) => {
		const rest = text.replaceAll(pattern, instead)
		if (rest !== text) isAny = true
		return rest
	}
	for (const name of ['src', 'srcset', 'background', 'poster'])
		for (const element of mail.querySelectorAll(`[${name}]`))
			if (foreign.test(element.getAttribute(name)!)) {
				element.removeAttribute(name)
				isAny = true
			}
	for (const element of mail.querySelectorAll('[style]')) {
		const style = element.getAttribute('style')!
		const rest = without(style, foreignUrl, 'none')
		// Setting a style takes time, even if it stays the same.
		if (rest !== style) element.setAttribute('style', rest)
	}
	for (const style of mail.querySelectorAll('style'))
		style.textContent = without(style.textContent.replaceAll(imports, ''), foreignUrl, 'none')
	return isAny
}

function tellNeed() {
	// The page itself is never lower than its frame.
	const { marginTop, marginBottom } = getComputedStyle(document.body)
	const height = document.body.scrollHeight + parseFloat(marginTop) + parseFloat(marginBottom)
	parent.postMessage(
		{ kind: 'shown', height: Math.ceil(height), isHeldBack } satisfies NeedOfMail,
		'*',
	)
}
