import test from 'ava'
import type { Machine } from '../local/boot.ts'
import { addresses, describe, keysToUse } from '../local/summary.ts'

const project = {
	projectId: crypto.randomUUID(),
	publicKey: 'pk_1',
	secretKey: 'sk_1',
	email: 'owner@example.com',
	password: 'secret',
}
const machineAt = (reachableHost: string) =>
	({
		settings: { reachableHost, port: 3000, isMailLocal: true },
		databaseUrl: 'postgres://127.0.0.1',
		temporal: { address: '127.0.0.1:7233', uiUrl: 'http://localhost:8233' },
	}) as Machine

test('npm start shows the console first, with a link that logs in', (t) => {
	const description = describe(machineAt('127.0.0.1'), project, 'abc')
	t.is(description.consoleUrl, 'http://localhost:3000/auth/local?token=abc')
	t.is(addresses(description)[0], '  Console     http://localhost:3000/auth/local?token=abc')
})

test('the link logs in only where it is answered, and only an owner that is known', (t) => {
	const urlAt = (host: string) => describe(machineAt(host), project, 'abc').consoleUrl
	t.is(urlAt('192.168.1.5'), 'http://192.168.1.5:3000/')
	t.is(urlAt('127.0.0.2'), 'http://127.0.0.2:3000/auth/local?token=abc')
	t.is(describe(machineAt('127.0.0.1'), project, undefined).consoleUrl, 'http://localhost:3000/')
})

test('npm start says why a key or a password is not shown', (t) => {
	const known = { ...project, secretKey: null, password: null }
	const description = describe(machineAt('127.0.0.1'), known, 'abc')
	const lines = addresses(description).join('\n')
	t.regex(lines, /owner@example.com, whose password was changed/)
	t.notRegex(lines, /Secret key/)
	t.regex(keysToUse(description), /were replaced/)
	t.regex(keysToUse(describe(machineAt('127.0.0.1'), undefined, undefined)), /has projects/)
})
