import test from 'ava'
import type { Outcome } from '../outside/providers/provider.ts'
import { until } from '../bench/load.ts'
import { Email } from '../db/emails/email.ts'
import { type trackingModes, Project } from '../db/projects/project.ts'
import { runningStack } from './helpers/running-stack.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

const pixel = /<img src="[^"]*\/o\/[^"]*"/

const modes: [mode: (typeof trackingModes)[number], type: Email['type'], tracked: boolean][] = [
	['ENABLED', 'TRANSACTIONAL', true],
	['ENABLED', 'MARKETING', true],
	['ENABLED', 'HEADLESS', true],
	['MARKETING_ONLY', 'TRANSACTIONAL', false],
	['MARKETING_ONLY', 'MARKETING', true],
	['MARKETING_ONLY', 'HEADLESS', false],
	['DISABLED', 'TRANSACTIONAL', false],
	['DISABLED', 'MARKETING', false],
]

test('a project decides which of its mails are tracked', async (t) => {
	const { orm, send, claim, worker, mail, project } = await setupLedger(t)
	for (const [tracking, type, tracked] of modes) {
		await orm.em.fork().nativeUpdate(Project, { id: project.id }, { tracking })
		const [id] = await send(['ann@example.org'])
		const em = orm.em.fork()
		await em.execute(`update contacts set subscribed = true`)
		await em.nativeUpdate(Email, { id: id! }, { type })
		const sent: string[] = []
		const { pass, finish } = await worker(
			scriptedProvider(({ html }) => void sent.push(html)).provider,
		)
		const claimId = claimOf((await claim())[0])
		await pass(claimId)
		await finish(claimId)
		t.is(pixel.test(sent[0]!), tracked, `${tracking} ${type}`)
		const { body, tracked: noted } = await mail(id!)
		t.is(noted, tracked)
		t.is(body, '<p>Hello</p>')
	}
})

test('every attempt of a mail is the same message, even if the project’s settings change', async (t) => {
	const { orm, send, claim, worker, project } = await setupLedger(t)
	await send(['ann@example.org'])
	const sent: string[] = []
	const { provider } = scriptedProvider(async ({ html }): Promise<Outcome> => {
		sent.push(html)
		await orm.em.fork().nativeUpdate(Project, { id: project.id }, { tracking: 'DISABLED' })
		return sent.length === 1
			? { kind: 'DEFERRED', error: '450 Try later', retryAfterMs: 50 }
			: { kind: 'SENT', providerMessageId: null }
	})
	const { pass } = await worker(provider)
	await pass(claimOf((await claim())[0]))
	t.is(sent.length, 2)
	t.is(sent[0], sent[1])
	t.regex(sent[0]!, pixel)
})

test('a mail that must not be tracked is not, whatever the project’s setting', async (t) => {
	const { orm, send, claim, worker } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await orm.em.fork().nativeUpdate(Email, { id: id! }, { tracked: false })
	const sent: string[] = []
	const { pass } = await worker(scriptedProvider(({ html }) => void sent.push(html)).provider)
	await pass(claimOf((await claim())[0]))
	t.is(sent.length, 1)
	t.notRegex(sent[0]!, /<img|\/c\//)
})

test('a mail in the mailbox is opened and clicked, and its record says so', async (t) => {
	const { stack, http } = await runningStack(t)
	const answer = await http.post('/v1/send', {
		to: 'ann@example.org',
		from: 'hello@example.com',
		subject: 'Sale',
		body: '<p>Our <a href="https://shop.example/?a=1&amp;b=2">sale</a></p>',
	})
	const id = JSON.parse(answer.body).data.emails[0].email
	const json = async (path: string) => {
		const headers = { authorization: `Bearer ${stack.secretKey}` }
		return (await fetch(stack.apiUrl + path, { headers })).json() as Promise<any>
	}
	const inbox = async () => (await json('/mailbox/messages')).messages
	t.true(await until(async () => (await inbox()).length === 1, 15_000))
	const [{ html, text }] = await inbox()
	t.regex(text, /https:\/\/shop\.example\/\?a=1&b=2/)
	const addresses = [...html.matchAll(/(?:href|src)="([^"]*\/[co]\/[^"]*)"/g)].map(
		([, url]: string[]) => url!.replace('localhost', '127.0.0.1'),
	)
	t.is(addresses.length, 2)
	const answers = await Promise.all(addresses.map((url) => fetch(url, { redirect: 'manual' })))
	t.deepEqual(
		answers.map(({ status, headers }) => [status, headers.get('location')]),
		[
			[302, 'https://shop.example/?a=1&b=2'],
			[200, null],
		],
	)
	const isCounted = async () => {
		const { opens, clicks } = await json(`/emails/${id}`)
		return opens === 1 && clicks === 1
	}
	t.true(await until(isCounted, 15_000))
	const record = await json(`/emails/${id}`)
	t.like(record, { status: 'CLICKED', opens: 1, clicks: 1, prefetches: 0 })
	t.true(record.openedAt !== null && record.clickedAt !== null)
	t.notRegex(record.body, /\/c\//)
})
