import { readFileSync } from 'node:fs'
import test from 'ava'
import { asksForHtml, serviceCard } from '../api/docs/service-card.ts'
import { setup } from './helpers/app.ts'

test('the card of the service names addresses that answer, and the version of its document, that of the package', async (t) => {
	const { app } = await setup(t)
	const { name, version, ...addresses } = serviceCard('https://mail.example/base')
	t.is(name, 'Tempost')
	t.deepEqual(addresses, {
		docs: 'https://mail.example/base/docs',
		openapi: 'https://mail.example/base/openapi.json',
		health: 'https://mail.example/base/health',
	})
	for (const address of Object.values(addresses))
		t.is((await app.inject(address.replace('https://mail.example/base', ''))).statusCode, 200)
	t.is((await app.inject('/openapi.json')).json().info.version, version)
	t.is(version, (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version)
})

test('browsers ask for HTML, and programs do not', (t) => {
	for (const accept of [
		'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
		'application/json, text/html;q=0.5',
		'TEXT/HTML',
	])
		t.true(asksForHtml(accept), accept)
	for (const accept of [
		undefined,
		'',
		'*/*',
		'application/json',
		'text/html;q=0',
		'text/html; q=0.0, */*',
		'text/htmlish',
	])
		t.false(asksForHtml(accept), accept)
})
