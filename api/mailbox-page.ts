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
		`/mailbox?${new URLSearchParams({ id, view, ...(search ? { search } : {}) })}`
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
	<p>${query.id ? '<a href="/mailbox">Follow new mail</a>' : 'New mail shows within seconds'}</p>
</header>
<main>
<nav aria-label="Mails"><ul>
${rows.map((row) => listItem(row, link(row.id, view), row.id === open?.row.id)).join('\n')}
</ul>${rows.length === 0 ? `<p class="empty">${search ? 'No mail matches.' : 'No mail yet. Send one with <code>POST /v1/send</code>.'}</p>` : ''}</nav>
${open ? article(open, view, link) : ''}
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
<dl><dt>From</dt><dd>${escape(mail.headers['From'] ?? row.from)}</dd><dt>To</dt><dd>${escape(mail.headers['To'] ?? row.to)}</dd><dt>Date</dt><dd>${row.receivedAt.toISOString()}</dd><dt>Email id</dt><dd><code>${row.emailId}</code></dd></dl>
${files.length > 0 ? `<ul class="files" aria-label="Attachments">${files.join('')}</ul>` : ''}
<ul class="views">${views.map((name) => `<li><a href="${escape(link(row.id, name))}"${name === view ? ' aria-current="true"' : ''}>${titles[name]}</a></li>`).join('')}<li><a href="/mailbox/messages/${row.id}/raw">Download .eml</a></li></ul>
${viewOf(view, row, mail)}
</article>`
}

const titles = { html: 'HTML', text: 'Text', headers: 'Headers', source: 'Source' }

function viewOf(view: (typeof views)[number], row: { id: string; raw: Buffer }, mail: ReadMail) {
	if (view === 'html')
		return `<iframe src="/mailbox/messages/${row.id}/html" sandbox="allow-popups" title="Body of the mail"></iframe>`
	if (view === 'text') return `<pre>${escape(mail.text)}</pre>`
	if (view === 'source') return `<pre>${escape(row.raw.subarray(0, 2 ** 20).toString())}</pre>`
	const lines = Object.entries(mail.headers).map(
		([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`,
	)
	return `<table>${lines.join('')}</table>`
}

/** The body for the frame: inline images come from the mail itself. */
export function messageBody(mail: ReadMail) {
	const html = mail.html || `<pre>${escape(mail.text)}</pre>`
	return html.replaceAll(/cid:([^"'\s>)]+)/g, (reference, id: string) => {
		const file = mail.files.find(({ contentId }) => contentId === decodeURIComponent(id))
		return file ? `data:${file.contentType};base64,${file.content.toString('base64')}` : reference
	})
}

const escape = (text: string) =>
	text.replaceAll(
		/[&<>"']/g,
		(char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[char]!,
	)

const timeOf = (date: Date) => date.toISOString().slice(11, 19)
const sizeOf = (bytes: number) =>
	bytes < 1024
		? `${bytes} B`
		: bytes < 2 ** 20
			? `${(bytes / 1024).toFixed(1)} KB`
			: `${(bytes / 2 ** 20).toFixed(1)} MB`

const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 15%, transparent); --mark: color-mix(in srgb, currentColor 8%, transparent) }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.45 system-ui, sans-serif; height: 100vh; display: flex; flex-direction: column }
header { display: flex; gap: 1.5rem; align-items: center; padding: .5rem 1rem; border-bottom: 1px solid var(--line) }
h1 { font-size: 1.1rem; margin: 0 } h1 a { color: inherit; text-decoration: none }
header p { margin: 0 0 0 auto; opacity: .75 }
input { font: inherit; padding: .3rem .6rem; width: 18rem; max-width: 100% }
main { flex: 1; display: flex; min-height: 0 }
nav { width: 24rem; max-width: 40%; overflow: auto; border-right: 1px solid var(--line) }
ul { list-style: none; margin: 0; padding: 0 }
nav a { display: grid; grid-template-columns: 1fr auto; padding: .5rem 1rem; color: inherit; text-decoration: none; border-bottom: 1px solid var(--line) }
nav a:hover, nav a[aria-current] { background: var(--mark) }
nav span, nav strong { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
nav time { order: 2; opacity: .7 } nav strong { order: 3; grid-column: 1 / -1 }
.empty { padding: 2rem 1rem; opacity: .75 }
article { flex: 1; display: flex; flex-direction: column; min-width: 0; padding: 1rem; overflow: auto }
h2 { margin: 0 0 .5rem; font-size: 1.25rem; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem 1rem; margin: 0 0 .75rem } dt { opacity: .7 } dd { margin: 0; overflow-wrap: anywhere }
.views, .files { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-bottom: .75rem } .views a[aria-current] { color: inherit; font-weight: 600; text-decoration: none }
iframe { flex: 1; min-height: 20rem; border: 1px solid var(--line); background: #fff; color-scheme: light }
pre { margin: 0; padding: .75rem; border: 1px solid var(--line); overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere }
table { border-collapse: collapse; text-align: left } th, td { padding: .2rem .75rem .2rem 0; vertical-align: top; overflow-wrap: anywhere } th { white-space: nowrap; font-weight: 600 }
@media (max-width: 46rem) { main { flex-direction: column; overflow: auto } nav { width: auto; max-width: none; max-height: 40vh; border-right: 0 } }
`
