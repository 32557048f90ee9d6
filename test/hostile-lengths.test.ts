import test from 'ava'
import { compile, render } from '../mail/liquid/liquid.ts'
import { setup } from './helpers/app.ts'
import { cpuMeter } from './helpers/cpu.ts'
import { createUser } from './helpers/people.ts'
import { setupSend } from './helpers/send.ts'

// Each value is valid for its route. Quadratic work on it would take minutes.
const patienceMs = 10_000

test.serial('a log-in with a huge password of accents is answered like any other', async (t) => {
	const { app } = await setup(t)
	const password = '\u0300'.repeat(15_000) + '\u0316'.repeat(15_000)
	const login = (given: string) => {
		const payload = { email: 'a@example.org', password: given }
		return app.inject({ method: 'POST', url: '/auth/login', payload })
	}
	await login('warms everything up')
	const spentMs = cpuMeter()
	t.is((await login(password)).statusCode, 401)
	// Normalising them is quadratic in their number: a third of a second, once for each such request.
	t.true(spentMs() < 150)
})

test.serial(
	'every pattern of the document takes time linear in the length of what it refuses',
	async (t) => {
		const { app } = await setup(t)
		const patterns = new Set<string>()
		JSON.parse((await app.inject('/openapi.json')).body, (key, value: unknown) => {
			if (key === 'pattern' && typeof value === 'string') patterns.add(value)
			return value
		})
		t.true(patterns.size >= 10)
		const texts = ['a', ' ', '0', '-', '.', '/', 'a-', 'a.', '\u0000'].flatMap((part) =>
			['\r', '\n', '!', ' ', 'é'].map((end) => part.repeat(100_000) + end),
		)
		for (const pattern of patterns) {
			const expression = new RegExp(pattern, 'u')
			const spentMs = cpuMeter()
			for (const text of texts) expression.test(text)
			t.true(spentMs() < 500, pattern)
		}
	},
)

test.serial('a project with a long name that is no line is refused at once', async (t) => {
	const { app, orm } = await setup(t)
	const { headers } = await createUser(app, orm, 'owner@example.org')
	const create = (name: string) =>
		app.inject({ method: 'POST', url: '/users/@me/projects', headers, payload: { name } })
	await create('warms\reverything up')
	const spentMs = cpuMeter()
	const answer = await create(`${'a'.repeat(50_000)}\r`)
	t.is(answer.statusCode, 422)
	t.is(answer.json().error.errors[0].field, 'name')
	t.true(spentMs() < 150)
})

test.serial(
	'addresses with domains of thousands of foreign characters are not converted',
	async (t) => {
		const { app, withSecretKey: headers } = await setup(t)
		const lookUp = (emails: string[]) =>
			app.inject({ method: 'POST', url: '/contacts/lookup', headers, payload: { emails } })
		await lookUp(['warms@everything.up'])
		const foreign = (length: number, place: number) =>
			Array.from({ length }, (_, i) =>
				String.fromCodePoint(0x4e00 + ((i * 37 + place) % 20_000)),
			).join('')
		for (const [count, length] of [
			[60, 5000],
			[300, 990],
			[400, 240],
		] as const) {
			const emails = Array.from({ length: count }, (_, place) => `a@${foreign(length, place)}.cn`)
			const spentMs = cpuMeter()
			const answer = await lookUp(emails)
			t.is(answer.json().notFound.length, count)
			t.true(spentMs() < 150, `${count} of ${length}`)
		}
	},
)

test.serial('a domain of thousands of foreign characters is refused at once', async (t) => {
	const { app, withSecretKey: headers } = await setup(t)
	const add = (domain: string) =>
		app.inject({ method: 'POST', url: '/domains', headers, payload: { domain } })
	await add('中.')
	const domain = Array.from({ length: 5000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
	const spentMs = cpuMeter()
	t.is((await add(`${domain.join('')}.com`)).statusCode, 422)
	t.true(spentMs() < 30)
})

test('a file of nothing but padding is refused at the cost of reading it', async (t) => {
	const { app, withSecretKey: headers } = await setupSend(t)
	const spentMs = cpuMeter()
	const content = `${'='.repeat(3_000_000)}A`
	const payload = {
		to: 'a@example.org',
		from: 'app@example.com',
		subject: 'Hi',
		body: 'x',
		attachments: [{ filename: 'a.txt', contentType: 'text/plain', content }],
	}
	const answer = await app.inject({ method: 'POST', url: '/v1/send', headers, payload })
	t.is(answer.statusCode, 422)
	t.is(answer.json().error.errors[0].field, 'attachments.0.content')
	t.true(spentMs() < patienceMs)
})

test('reducing a subject to one line takes time linear in its length', (t) => {
	const spentMs = cpuMeter()
	const { text } = render(compile('{{ x }}', 'subject'), { x: `a${' '.repeat(1_000_000)}b` })
	t.is(text, `a${' '.repeat(997)}`)
	t.true(spentMs() < patienceMs)
})
