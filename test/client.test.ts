import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { prepareStack } from '../bench/stack.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

/** What somebody writes who has nothing but the document. Beside it lies what a generator made of that. */
const program = `
import createClient from 'openapi-fetch'
import type { operations, paths } from './api.d.ts'

const [baseUrl = '', secretKey, publicKey] = process.argv.slice(2)
const ours = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${secretKey}\` } })
const theirs = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${publicKey}\` } })

const sent = await ours.POST('/v1/send', {
	params: { header: { 'Idempotency-Key': 'a first mail' } },
	body: { to: { email: 'ann@example.org', name: 'Ann' }, from: 'me@example.com', subject: 'Hello', body: '<p>Hi</p>' },
})
if (!sent.data) throw new Error(sent.error.error.message)
const emailId: string = sent.data.data.emails[0]!.email

const tracked = await theirs.POST('/v1/track', {
	body: { email: 'ann@example.org', event: 'bought', data: { price: 5 } },
})
const eventId = tracked.data?.data.event
const { data: events } = await ours.GET('/events', { params: { query: { eventName: 'bought' } } })
if (events?.events[0]?.id !== eventId) throw new Error('The event is not there')

const created = await ours.POST('/campaigns', {
	body: {
		name: 'News',
		subject: 'News',
		body: '<p>News</p>',
		from: 'me@example.com',
		type: 'TRANSACTIONAL',
		audienceType: 'ALL',
	},
})
if (!created.data) throw new Error('error' in created.error ? JSON.stringify(created.error) : '')
const { id } = created.data.data
const begun = await ours.POST('/campaigns/{id}/send', { params: { path: { id } }, body: {} })
if (!begun.data) throw new Error(begun.error.error.code)

type Campaign = operations['getCampaign']['responses'][200]['content']['application/json']
async function get(): Promise<Campaign> {
	const { data, error } = await ours.GET('/campaigns/{id}', { params: { path: { id } } })
	if (!data) throw new Error(error.error.suggestion ?? error.error.message)
	return data
}
let campaign = await get()
for (let tries = 0; campaign.status !== 'SENT' && tries < 600; tries++) {
	await new Promise((done) => setTimeout(done, 100))
	campaign = await get()
}
const { data: mail } = await ours.GET('/emails/{id}', { params: { path: { id: emailId } } })

const missing = await ours.GET('/contacts/{id}', { params: { path: { id: emailId } } })
const simple = await ours.POST('/segments', { body: { type: 'STATIC' } as never })
const deleted = await ours.DELETE('/campaigns/{id}', { params: { path: { id } } })

console.log(JSON.stringify({
	mail: [mail?.to, mail?.status],
	campaign: [campaign.status, campaign.sentCount],
	missing: missing.error?.error,
	simple: simple.error?.error,
	deleted: [deleted.response.status, deleted.error?.success],
}))

export async function wrongUses() {
	// @ts-expect-error There is no such path.
	await ours.GET('/contact')
	// @ts-expect-error A mail has a recipient.
	await ours.POST('/v1/send', { body: { subject: 'S', body: 'B' } })
	// @ts-expect-error An id is needed.
	await ours.GET('/campaigns/{id}')
	// @ts-expect-error No such type of audience.
	await ours.POST('/campaigns', { body: { name: 'N', audienceType: 'NOBODY' } })
	const { data } = await ours.GET('/campaigns')
	// @ts-expect-error A campaign has no such member.
	data?.data[0]?.nonsense
}
`

/** In the folder where the program finds its modules. */
function folderOf(t: ExecutionContext) {
	mkdirSync(join(root, '.cache'), { recursive: true })
	const folder = mkdtempSync(join(root, '.cache', 'client-'))
	t.teardown(() => rmSync(folder, { recursive: true, force: true }))
	return folder
}

/** The generator writes by TypeScript's own API, which its latest version does not have. */
async function generate(document: string) {
	const hooks = registerHooks({
		resolve: (specifier, context, next) =>
			next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context),
	})
	const { astToString, default: openapiTypescript } = await import('openapi-typescript')
	hooks.deregister()
	return astToString(await openapiTypescript(document))
}

test('a client generated from the document is typed, and sends, tracks and runs a campaign', async (t) => {
	const servers = {
		databaseUrl: process.env['DATABASE_URL']!,
		temporalAddress: process.env['TEMPORAL_ADDRESS']!,
	}
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const folder = folderOf(t)
	const document = await fetch(`${stack.apiUrl}/openapi.json`)
	const files: Record<string, string> = {
		'api.d.ts': await generate(await document.text()),
		'program.ts': program,
		'tsconfig.json': JSON.stringify({
			extends: '../../tsconfig.json',
			compilerOptions: { lib: ['es2024', 'dom'], skipLibCheck: false },
			include: ['.'],
		}),
	}
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)

	const tsc = join(root, 'node_modules/typescript/bin/tsc')
	const checked = await run(process.execPath, [tsc, '-p', folder]).catch(
		({ stdout }: { stdout: string }) => ({ stdout }),
	)
	t.is(checked.stdout, '')

	const { apiUrl, secretKey, publicKey } = stack
	const { stdout } = await run(
		process.execPath,
		['--import=tsx', 'program.ts', apiUrl, secretKey, publicKey],
		{ cwd: folder },
	)
	const result = JSON.parse(stdout)
	t.is(result.missing.code, 'CONTACT_NOT_FOUND')
	t.like(result, {
		mail: ['ann@example.org', 'SENT'],
		campaign: ['SENT', 1],
		simple: 'name is required',
		deleted: [204],
	})
})
