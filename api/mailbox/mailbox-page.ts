import type { ReadMail } from './mailbox-mail.ts'

interface Row {
	id: string
	to: string
	from: string
	subject: string
	receivedAt: Date
	emailId: string
}

const views = ['html', 'text', 'headers', 'source'] as const

/** The mailbox as a page that needs no script: the list, the open mail, and its views as links. */
export function mailboxPage(
	rows: Row[],
	open: { row: Row & { raw: Buffer }; mail: ReadMail } | null,
	query: { id?: string; view?: string; search?: string },
) {
	const view = views.find((name) => name === query.view) ?? 'html'
	const search = query.search ?? ''
	const link = (id: string, view: string) =>
		`/mailbox?${new URLSearchParams({ id, view, ...(search ? { search } : {}) }).toString()}`
	const follow = search ? `/mailbox?${new URLSearchParams({ search }).toString()}` : '/mailbox'
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${query.id ? '' : '<meta http-equiv="refresh" content="5">'}
<title>Mailbox · Tempost</title>
<style>${style}</style>
</head>
<body>
<header>
	<h1><a href="/mailbox">Mailbox</a></h1>
	<form><input type="search" name="search" value="${escape(search)}" placeholder="Address or subject" aria-label="Search"></form>
	<p>${query.id ? `<a href="${escape(follow)}">Follow new mail</a>` : 'New mail shows within seconds'}</p>
</header>
<main>
<nav aria-label="Mails"><ul>
${rows.map((row) => listItem(row, link(row.id, view), row.id === open?.row.id)).join('\n')}
</ul>${rows.length === 0 ? `<p class="empty">${search ? 'No mail matches.' : 'No mail yet. Send one with <code>POST /v1/send</code>.'}</p>` : ''}</nav>
${open ? article(open, view, link) : query.id ? '<article><p>This mail is not in the mailbox any more.</p></article>' : ''}
</main>
</body>
</html>`
}

const listItem = (row: Row, href: string, isOpen: boolean) =>
	`<li><a href="${escape(href)}"${isOpen ? ' aria-current="true"' : ''}><time datetime="${row.receivedAt.toISOString()}">${timeOf(row.receivedAt)}</time><span>${escape(row.to)}</span><strong>${escape(row.subject) || '(no subject)'}</strong></a></li>`

function article(
	{ row, mail }: { row: Row & { raw: Buffer }; mail: ReadMail },
	view: (typeof views)[number],
	link: (id: string, view: string) => string,
) {
	const files = mail.files.map(
		({ filename, contentType, content }, position) =>
			`<li><a href="/mailbox/messages/${row.id}/attachments/${position}">${escape(filename)}</a> <small>${escape(contentType)}, ${sizeOf(content.length)}</small></li>`,
	)
	return `<article>
<h2>${escape(row.subject) || '(no subject)'}</h2>
<dl><dt>From</dt><dd>${escape(mail.headers['From'] ?? row.from)}</dd><dt>To</dt><dd>${escape(mail.headers['To'] ?? row.to)}</dd><dt>Received</dt><dd><time datetime="${row.receivedAt.toISOString()}">${dateAndTime.format(row.receivedAt)}</time></dd><dt>Email id</dt><dd><code>${row.emailId}</code></dd></dl>
${files.length > 0 ? `<ul class="files" aria-label="Attachments">${files.join('')}</ul>` : ''}
<ul class="views">${views.map((name) => `<li><a href="${escape(link(row.id, name))}"${name === view ? ' aria-current="true"' : ''}>${titles[name]}</a></li>`).join('')}<li><a href="/mailbox/messages/${row.id}/raw">Download .eml</a></li></ul>
${viewOf(view, row, mail)}
</article>`
}

const titles = { html: 'HTML', text: 'Text', headers: 'Headers', source: 'Source' }

function viewOf(view: (typeof views)[number], row: { id: string; raw: Buffer }, mail: ReadMail) {
	if (view === 'html')
		return `<iframe src="/mailbox/messages/${row.id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox" title="Body of the mail"></iframe>`
	if (view === 'text') return `<pre>${escape(mail.text)}</pre>`
	if (view === 'source') return `<pre>${escape(row.raw.subarray(0, 2 ** 20).toString())}</pre>`
	const lines = Object.entries(mail.headers).map(
		([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`,
	)
	return `<table>${lines.join('')}</table>`
}

/** The body for the frame: links open beside it, inline images come from the mail itself. */
export function messageBody(mail: ReadMail) {
	const base = '<base target="_blank">'
	const html = mail.html || `<pre>${escape(mail.text)}</pre>`
	const based = /<head[\s>]/i.test(html)
		? html.replace(/<head(\s[^>]*)?>/i, (head) => head + base)
		: base + html
	return based.replaceAll(/cid:([^"'\s>)]+)/g, (reference, id: string) => {
		const file = mail.files.find(
			({ contentId }) => contentId !== undefined && isSameId(contentId, id),
		)
		return file ? `data:${file.contentType};base64,${file.content.toString('base64')}` : reference
	})
}

/** In a URL an id may be percent-encoded, wrongly too. */
function isSameId(contentId: string, inUrl: string) {
	try {
		return contentId === inUrl || decodeURIComponent(contentId) === decodeURIComponent(inUrl)
	} catch {
		return false
	}
}

const escape = (text: string) =>
	text.replaceAll(
		/[&<>"']/g,
		(char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[char]!,
	)

// Whoever reads this sits at this machine: its time is theirs.
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

const style = `
:root { color-scheme: light dark; --accent: light-dark(#0b5cad, #7ab8ff); --line: color-mix(in srgb, currentColor 14%, transparent); --mark: color-mix(in srgb, var(--accent) 12%, transparent) }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.45 system-ui, sans-serif; height: 100vh; display: flex; flex-direction: column }
a { color: var(--accent) }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding: .6rem 1rem; border-bottom: 1px solid var(--line) }
h1 { font-size: 1.1rem; margin: 0 } h1 a { color: inherit; text-decoration: none }
header p { margin: 0 0 0 auto; font-size: .9rem; opacity: .85 }
input { font: inherit; padding: .3rem .7rem; width: 18rem; max-width: 100%; border: 1px solid var(--line); border-radius: .4rem }
main { flex: 1; display: flex; min-height: 0 }
nav { width: 24rem; max-width: 40%; overflow: auto; border-right: 1px solid var(--line) }
ul { list-style: none; margin: 0; padding: 0 }
nav a { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 .75rem; padding: .55rem 1rem; color: inherit; text-decoration: none; border-bottom: 1px solid var(--line) }
nav a:hover { background: color-mix(in srgb, currentColor 5%, transparent) }
nav a[aria-current] { background: var(--mark); box-shadow: inset 3px 0 var(--accent) }
nav span, nav strong { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
nav span, nav time { font-size: .9rem; opacity: .8 } nav time { order: 2 } nav strong { order: 3; grid-column: 1 / -1; font-weight: 600 }
.empty { padding: 2rem 1rem; opacity: .85 }
article { flex: 1; display: flex; flex-direction: column; min-width: 0; padding: 1rem 1.25rem; overflow: auto }
h2 { margin: 0 0 .5rem; font-size: 1.25rem; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .1rem 1rem; margin: 0 0 .75rem } dt { opacity: .75 } dd { margin: 0; overflow-wrap: anywhere }
.files { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: .75rem } .files li { padding: .15rem .6rem; border: 1px solid var(--line); border-radius: .4rem; overflow-wrap: anywhere }
.views { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin-bottom: .75rem; border-bottom: 1px solid var(--line) }
.views a { display: block; padding: .25rem 0; text-decoration: none; border-bottom: 2px solid transparent } .views a[aria-current] { color: inherit; border-color: var(--accent) } .views li:last-child { margin-left: auto }
iframe { flex: 1; min-height: 24rem; border: 1px solid var(--line); border-radius: .4rem; background: #fff; color-scheme: light }
pre { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; overflow: visible; white-space: pre-wrap; overflow-wrap: anywhere }
table { border-collapse: collapse; text-align: left } th, td { padding: .25rem 1rem .25rem 0; vertical-align: top } th { font-weight: 600; white-space: nowrap } td { overflow-wrap: anywhere }
@media (max-width: 46rem) { main { flex-direction: column; overflow: auto } nav { width: auto; max-width: none; max-height: 40vh; flex-shrink: 0; border-right: 0; border-bottom: 1px solid var(--line) } article { overflow: visible; flex: none } }
`
