// Keeps the list current and shows mails in place. The server writes every part of the page: this script
// fetches the same pages that the links lead to, so all of it works without the script, a click at a time.
const list = document.querySelector('nav ul')
const end = document.querySelector('#end')
const article = document.querySelector('article')
const search = document.querySelector('input[type=search]')
const state = document.querySelector('#state')
const idOf = (url) => new URL(url, location).searchParams.get('id')
const older = () => end.querySelector('.older')
let openId = idOf(location)
let listing = null
let changed = Promise.resolve()

document.documentElement.classList.add('js')
document.body.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches)

async function fetchPage(url, signal) {
	const response = await fetch(url, { signal })
	if (!response.ok) throw new Error(`${response.status} ${url}`)
	return new DOMParser().parseFromString(await response.text(), 'text/html')
}

/** A list fetched before the end of a change does not know it, so that the next fetch waits. */
async function change(method, path, body) {
	listing?.abort()
	const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
	const answer = fetch(path, { method, ...(body ? json : {}) })
	changed = Promise.allSettled([changed, answer])
	const response = await answer
	if (!response.ok && response.status !== 404) throw new Error(`${response.status} ${path}`)
}

/** Fetches the newest mails. Of several at once only the last counts: it knows the latest search. */
async function refresh() {
	listing?.abort()
	const mine = (listing = new AbortController())
	try {
		await changed
		merge(await fetchPage(listUrl(), mine.signal))
		state.textContent = ''
	} catch (error) {
		if (error.name !== 'AbortError') state.textContent = 'No answer from Tempost. Trying again.'
	}
}

/** Mails keep their elements, so that focus and scroll position stay. Ids are in order of arrival. */
function merge(page) {
	const fresh = [...page.querySelectorAll('nav li')]
	const hasOlder = page.querySelector('.older') !== null
	const ids = new Set(fresh.map(({ id }) => id))
	const oldest = fresh.at(-1)?.id ?? ''
	for (const item of Array.from(list.children))
		if (!ids.has(item.id) && (!hasOlder || item.id > oldest)) dropItem(item)
	let place = list.firstElementChild
	for (const item of fresh) {
		const known = document.getElementById(item.id)
		if (known) {
			known.className = item.className
			known.firstElementChild.href = item.firstElementChild.href
			place = known.nextElementSibling
		} else list.insertBefore(item, place)
	}
	if (!hasOlder || list.children.length === fresh.length)
		end.replaceChildren(...page.querySelector('#end').childNodes)
	markOpen()
}

function markOpen() {
	for (const link of list.querySelectorAll('[aria-current]')) link.removeAttribute('aria-current')
	linkOf(document.getElementById(openId))?.setAttribute('aria-current', 'true')
}

const linkOf = (item) => item?.querySelector('a')

function dropItem(item) {
	const hasFocus = item.contains(document.activeElement)
	const neighbour = item.nextElementSibling ?? item.previousElementSibling
	item.remove()
	if (hasFocus) linkOf(neighbour)?.focus()
}

async function show(url) {
	const page = await fetchPage(url)
	article.replaceChildren(...page.querySelector('article').childNodes)
	article.scrollTop = 0
	document.title = page.title
	document.body.classList.toggle('reading', idOf(url) !== null)
	openId = idOf(url)
	markOpen()
	markPressed()
	// Where the list gives way to the mail, what had the focus is no longer there to have it.
	if (openId && !list.offsetParent) article.querySelector('h2')?.focus()
	if (openId) await setRead(true)
}

async function go(url) {
	await show(url)
	history.pushState(null, '', url)
}

async function setRead(read) {
	document.getElementById(openId)?.classList.toggle('unread', !read)
	await change('PATCH', `/mailbox/messages/${openId}`, { read })
}

async function remove(id) {
	await change('DELETE', `/mailbox/messages/${id}`)
	const item = document.getElementById(id)
	const neighbour = item?.nextElementSibling ?? item?.previousElementSibling
	item?.remove()
	if (id === openId) await go(listUrl())
	linkOf(neighbour)?.focus()
	await refresh()
}

function listUrl() {
	const url = new URL(location)
	for (const name of ['id', 'view']) url.searchParams.delete(name)
	return url.pathname + url.search
}

async function loadOlder(link) {
	const page = await fetchPage(link.href)
	const first = page.querySelector('nav li a')
	list.append(...page.querySelectorAll('nav li'))
	end.replaceChildren(...page.querySelector('#end').childNodes)
	first?.focus()
}

async function clear() {
	if (!confirm('Delete every mail in the mailbox?')) return
	await change('DELETE', '/mailbox/messages')
	await go(listUrl())
	await refresh()
}

function searchFor(text) {
	const url = new URL(location)
	url.searchParams.delete('before')
	if (text) url.searchParams.set('search', text)
	else url.searchParams.delete('search')
	history.replaceState(null, '', url)
	list.parentElement.scrollTop = 0
	return refresh()
}

function toggle(name) {
	document.body.classList.toggle(name)
	markPressed()
}

function markPressed() {
	for (const name of ['dark', 'phone'])
		article
			.querySelector(`[data-act=${name}]`)
			?.setAttribute('aria-pressed', document.body.classList.contains(name))
}

const acts = {
	delete: () => remove(openId),
	unread: () => setRead(false),
	phone: () => toggle('phone'),
	dark: () => toggle('dark'),
}

function step(by) {
	const links = [...list.querySelectorAll('a')]
	const at = links.findIndex((link) => link === document.activeElement)
	const from = at >= 0 ? at : links.findIndex((link) => link.hasAttribute('aria-current'))
	links[Math.min(Math.max(from + by, 0), links.length - 1)]?.focus()
}

const keys = {
	j: () => step(1),
	k: () => step(-1),
	'/': () => search.select(),
	Delete: () => {
		const id = document.activeElement.closest('nav li')?.id ?? openId
		return id && remove(id)
	},
	Escape: () => openId && go(listUrl()),
}

/** What fails is said where the state of the list is. */
const attempt = (act) =>
	Promise.resolve(act()).catch((error) => {
		state.textContent = `That failed: ${error.message}`
	})

document.addEventListener('keydown', (event) => {
	const act = keys[event.key]
	if (!act || event.ctrlKey || event.metaKey || event.altKey) return
	if (event.target === search) {
		if (event.key !== 'Escape') return
		linkOf(list)?.focus()
		return
	}
	event.preventDefault()
	void attempt(act)
})

document.addEventListener('click', (event) => {
	if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
	const act = acts[event.target.closest('[data-act]')?.dataset.act]
	const link = event.target.closest('nav li a, .view, .back, .older')
	if (!act && !link) return
	event.preventDefault()
	void attempt(act ?? (() => (link === older() ? loadOlder(link) : go(link.href))))
})

document.querySelector('#clear').addEventListener('click', () => void attempt(clear))
addEventListener('popstate', () => {
	search.value = new URL(location).searchParams.get('search') ?? ''
	void attempt(() => show(location.href))
})

let pause
search.addEventListener('input', () => {
	clearTimeout(pause)
	pause = setTimeout(() => void searchFor(search.value), 150)
})
search.form.addEventListener('submit', (event) => {
	event.preventDefault()
	clearTimeout(pause)
	void searchFor(search.value)
})

async function follow() {
	if (!document.hidden) await refresh()
	setTimeout(() => void follow(), 2000)
}
document.addEventListener('visibilitychange', () => void (document.hidden || refresh()))

markOpen()
markPressed()
if (openId) void attempt(() => setRead(true))
void follow()
