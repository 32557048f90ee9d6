import test, { type ExecutionContext } from 'ava'
import { setup } from './helpers/app.ts'
import { builtConsole } from './helpers/console.ts'

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

async function setupPages(t: ExecutionContext) {
	const { app } = await setup(t, { services: { consoleFolder: await builtConsole() } })
	const get = (url: string, headers: Record<string, string> = asBrowser) =>
		app.inject({ url, headers })
	return { get }
}

test('the address of the service shows the console to browsers, and a card to programs', async (t) => {
	const { get } = await setupPages(t)
	const page = await get('/')
	t.is(page.statusCode, 200)
	t.regex(page.headers['content-type'] as string, /^text\/html/)
	t.regex(page.body, /<div id="root">/)
	const card = await get('/', { accept: '*/*' })
	t.is(card.json().name, 'Tempost')
	t.is((await get(new URL(card.json().health).pathname)).statusCode, 200)
})

test('every address below /console is answered with the page', async (t) => {
	const { get } = await setupPages(t)
	for (const url of ['/console', '/console/log-in', '/console/a/emails/b?status=SENT'])
		t.regex((await get(url)).body, /<div id="root">/, url)
	t.is((await get('/console/assets/missing.js')).statusCode, 404)
})

test('the page runs only its own files, and no style without the nonce of this answer', async (t) => {
	const { get } = await setupPages(t)
	const [one, other] = [await get('/'), await get('/')]
	const nonceOf = ({ body }: typeof one) => /name="csp-nonce" content="([^"]+)"/.exec(body)![1]!
	const policy = one.headers['content-security-policy'] as string
	t.not(nonceOf(one), nonceOf(other))
	t.true(policy.includes(`'nonce-${nonceOf(one)}'`))
	t.true(policy.includes("default-src 'self'") && policy.includes("script-src 'self';"), policy)
	t.false(policy.includes('unsafe'), policy)
	t.notRegex(one.body, /<script(?![^>]*\bsrc=)|\son\w+=|<style/)
})

test('files of the console are compressed, and kept by browsers for ever', async (t) => {
	const { get } = await setupPages(t)
	const [, script] = /<script[^>]*src="([^"]+)"/.exec((await get('/')).body)!
	const answer = await get(script!, { 'accept-encoding': 'br' })
	t.is(answer.headers['content-encoding'], 'br')
	t.regex(answer.headers['cache-control'] as string, /immutable/)
})

test('the frame of a mail can run nothing of the mail, and loads images only when asked to', async (t) => {
	const { get } = await setupPages(t)
	const policyOf = async (url: string) =>
		(await get(url, { ...asBrowser, host: 'mail.example' })).headers[
			'content-security-policy'
		] as string
	const policy = await policyOf('/console/mail-frame')
	t.regex(policy, /^default-src 'none'; script-src http:\/\/mail\.example\/console\/assets\/;/)
	t.regex(policy, /; sandbox allow-scripts allow-popups/)
	t.notRegex(policy, /allow-same-origin|https:/)
	t.regex(await policyOf('/console/mail-frame?images=on'), /img-src data: http: https:;/)
	const { headers } = await get('/console/mail-frame')
	t.is(headers['x-dns-prefetch-control'], 'off')
})
