/**
 * The page in the frame of a mail. It has an opaque origin and a policy of its own, under which nothing of the mail can
 * run, reach the console or, until its reader asks, load anything. The console gives it the HTML of a mail, and it tells its height.
 */
import './mail-frame.css'

export interface MailForFrame {
	kind: 'mail'
	html: string
	/** Whether a mail without colours of its own is shown as a mail program in the dark shows it. */
	isDark: boolean
}
export interface HeightOfMail {
	kind: 'height'
	height: number
}

addEventListener('message', ({ source, data }: MessageEvent<MailForFrame>) => {
	if (source !== parent || data.kind !== 'mail') return
	show(data)
})
tell({ kind: 'ready' })

function show({ html, isDark }: MailForFrame) {
	const mail = new DOMParser().parseFromString(html, 'text/html')
	for (const element of mail.querySelectorAll(
		'script, base, meta[http-equiv], iframe, object, embed',
	))
		element.remove()
	for (const link of mail.querySelectorAll('a, area, form')) {
		link.setAttribute('target', '_blank')
		link.setAttribute('rel', 'noopener noreferrer')
	}
	const { documentElement: root } = document
	for (const name of root.getAttributeNames()) root.removeAttribute(name)
	for (const { name, value } of mail.documentElement.attributes) root.setAttribute(name, value)
	root.classList.toggle('dark', isDark)
	document.head.querySelectorAll('[data-of-mail]').forEach((style) => style.remove())
	for (const style of mail.head.querySelectorAll('style')) {
		style.dataset['ofMail'] = ''
		document.head.append(style)
	}
	document.body.replaceWith(mail.body)
	new ResizeObserver(tellHeight).observe(document.body)
	tellHeight()
}

function tellHeight() {
	tell({ kind: 'height', height: Math.ceil(document.documentElement.scrollHeight) })
}

function tell(message: HeightOfMail | { kind: 'ready' }) {
	parent.postMessage(message, '*')
}
