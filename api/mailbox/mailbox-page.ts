import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { escapeHtml as escape } from '../../mail/liquid/printing.ts'
import type { DescribedMail } from './mailbox-mail.ts'

interface Row {
	id: string
	to: string
	from: string
	subject: string
	read: boolean
	receivedAt: Date
	emailId: string
}

interface Open {
	row: Row & { bcc: string[]; rawBytes: number }
	mail: DescribedMail
	/** Of the source, for the view that shows it. */
	beginning: Buffer | undefined
}

interface Query {
	id?: string
	view?: string
	search?: string
	before?: string
}

const views = ['html', 'text', 'headers', 'source'] as const
type ViewName = (typeof views)[number]
const titles = { html: 'HTML', text: 'Text', headers: 'Headers', source: 'Source' }

const style = readFileSync(new URL('mailbox.css', import.meta.url), 'utf8')
const script = readFileSync(new URL('mailbox-script.js', import.meta.url), 'utf8')
const hashOf = (code: string) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`

/** Allows only our own style and script, by their hashes, and nothing from a mail. */
export const pagePolicy =
	`default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; ` +
	"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/**
 * The mailbox as a page. It can be read without its script: the list, the open mail, its views and
 * older mail are links. The script fetches these same pages and puts their parts in place.
 */
export function mailboxPage(
	list: { rows: Row[]; hasOlder: boolean },
	open: Open | null,
	query: Query,
) {
	const { id, search = '' } = query
	const title = open ? `${open.row.subject || noSubject} · Mailbox` : 'Mailbox · Tempost'
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body${id ? ' class="reading"' : ''}>
<header>
	<h1><a href="/mailbox">Mailbox</a></h1>
	<form role="search"><input type="search" name="search" value="${escape(search)}" placeholder="Address or subject" aria-label="Search by address or subject"></form>
	<p id="state" role="status"></p>
	<button type="button" id="clear" class="scripted">Delete all</button>
</header>
<main>
<nav aria-label="Mails">
<ul>
${list.rows.map((row) => listItem(row, query)).join('\n')}
</ul>
<p id="end">${endOf(list, query)}</p>
</nav>
<article aria-label="Open mail">${open ? article(open, query) : id ? '<p>This mail is not in the mailbox any more.</p>' : hint}</article>
</main>
<script>${script}</script>
</body>
</html>`
}

/** Escaping more would block the event loop. */
export const mostShown = 2 ** 18
const noSubject = '(no subject)'
const hint = `<p class="hint">Choose a mail to read it.</p>
<p class="hint scripted"><kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>Enter</kbd> opens, <kbd>Delete</kbd> deletes, <kbd>/</kbd> searches.</p>`

function listItem({ id, read, subject, from, to, receivedAt }: Row, query: Query) {
	const isOpen = id === query.id
	return `<li id="${id}"${read ? '' : ' class="unread"'}><a href="${address({ ...query, id, view: undefined })}"${isOpen ? ' aria-current="true"' : ''}><i><b>Unread.</b></i><strong dir="auto">${escape(subject) || noSubject}</strong><time datetime="${receivedAt.toISOString()}">${timeOf(receivedAt)}</time><span>${escape(from)} <small>to</small> ${escape(to)}</span></a></li>`
}

function endOf({ rows, hasOlder }: { rows: Row[]; hasOlder: boolean }, query: Query) {
	const { search, before } = query
	if (hasOlder)
		return `<a class="older" href="${address({ search, before: rows.at(-1)!.id })}">Older mail</a>`
	if (rows.length > 0 || before) return ''
	return search ? 'No mail matches.' : 'No mail yet. Send one with <code>POST /v1/send</code>.'
}

/** A page of the mailbox, ready for an attribute. */
function address(query: { [name in keyof Query]: Query[name] | undefined }) {
	const given = Object.entries(query).filter(([, value]) => value)
	const parameters = new URLSearchParams(given as [string, string][]).toString()
	return escape(parameters ? `/mailbox?${parameters}` : '/mailbox')
}

function article(open: Open, query: Query) {
	const { row, mail } = open
	const view = views.find((name) => name === query.view) ?? 'html'
	const files = mail.attachments.map(
		({ filename, contentType, size }, position) =>
			`<li><a href="/mailbox/messages/${row.id}/attachments/${position}">${escape(filename)}</a> <small>${escape(contentType)}, ${sizeOf(size)}</small></li>`,
	)
	return `
<p class="acts"><a class="back" href="${address({ ...query, id: undefined, view: undefined })}">Back to the list</a><button type="button" class="scripted" data-act="unread">Mark as unread</button><button type="button" class="scripted" data-act="delete">Delete</button></p>
<h2 dir="auto" tabindex="-1">${escape(row.subject) || noSubject}</h2>
<dl><dt>From</dt><dd>${escape(mail.headers['From'] ?? row.from)}</dd><dt>To</dt><dd>${escape(mail.headers['To'] ?? row.to)}</dd>${copies('Cc', mail.headers['Cc'])}${copies('Bcc', row.bcc.join(', '))}<dt>Received</dt><dd><time datetime="${row.receivedAt.toISOString()}">${dateAndTime.format(row.receivedAt)}</time></dd><dt>Email id</dt><dd><code>${row.emailId}</code></dd></dl>
${files.length > 0 ? `<ul class="files" aria-label="Attachments">${files.join('')}</ul>` : ''}
<ul class="views">${views.map((name) => `<li><a class="view" href="${address({ ...query, view: name })}"${name === view ? ' aria-current="true"' : ''}>${titles[name]}</a></li>`).join('')}<li><a href="/mailbox/messages/${row.id}/raw">Download .eml</a></li></ul>
${viewOf(view, open)}
`
}

const copies = (name: string, addresses: string | undefined) =>
	addresses ? `<dt>${name}</dt><dd>${escape(addresses)}</dd>` : ''

function viewOf(view: ViewName, { row, mail, beginning }: Open) {
	if (view === 'html') return htmlView(row.id, mail)
	if (view === 'text')
		return `<pre dir="auto">${escape(mail.text.slice(0, mostShown))}</pre>${restOf(mail.text.length)}`
	if (view === 'source')
		return `<pre>${escape(beginning?.toString() ?? '')}</pre>${restOf(row.rawBytes)}`
	const lines = Object.entries(mail.headers).map(
		([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`,
	)
	return `<table>${lines.join('')}</table>`
}

const restOf = (length: number) =>
	length > mostShown
		? '<p class="hint">This is the beginning. Download .eml has all of it.</p>'
		: ''

function htmlView(id: string, mail: DescribedMail) {
	const body = `/mailbox/messages/${id}/html`
	const tracking = [
		mail.opensTracked &&
			`Reading here does not count as an open. <a href="${body}?pixel=true" target="preview">Load the tracking pixel</a> to count one.`,
		mail.clicksTracked && 'Following a link counts a click.',
	].filter((sentence) => sentence !== false)
	return `<p class="preview"><span>${tracking.join(' ')}</span><button type="button" class="scripted" data-act="phone" aria-pressed="false">Phone width</button><button type="button" class="scripted" data-act="dark" aria-pressed="false">Dark</button></p>
<iframe name="preview" src="${body}" sandbox="allow-popups allow-popups-to-escape-sandbox" title="Body of the mail"></iframe>`
}

// Times are in the reader's time zone, because the mailbox answers only on its own machine.
const dateAndTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long' })
const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

const timeOf = (date: Date) =>
	date.toDateString() === new Date().toDateString() ? time.format(date) : day.format(date)

const sizeOf = (bytes: number) =>
	bytes < 1024
		? `${bytes} B`
		: bytes < 2 ** 20
			? `${(bytes / 1024).toFixed(1)} KB`
			: `${(bytes / 2 ** 20).toFixed(1)} MB`
