import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { prepareStack } from '../bench/stack.ts'
import { generateSdk, generateTypes } from './helpers/generated-clients.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

/** Written by hand from the document alone; a generator's version is beside each. */
const withTypes = `
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

const contact = await ours.POST('/contacts', { body: { email: 'bob@example.org', data: { plan: 'pro' } } })
const segment = await ours.POST('/segments', {
	body: {
		name: 'Pro',
		condition: {
			logic: 'AND',
			groups: [
				{
					filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }],
					conditions: {
						logic: 'OR',
						groups: [
							{ filters: [{ field: 'email', operator: 'contains', value: 'bob' }] },
							{ filters: [{ field: 'event.login', operator: 'triggeredWithin', value: 3, unit: 'days' }] },
						],
					},
				},
			],
		},
	},
})
const flow = await ours.POST('/workflows', { body: { name: 'Onboarding', eventName: 'signup' } })
const path = { id: flow.data!.id }
const wait = await ours.POST('/workflows/{id}/steps', {
	params: { path },
	body: { type: 'DELAY', name: 'Two days', config: { amount: 2, unit: 'days' } },
})
await ours.POST('/workflows/{id}/steps', { params: { path }, body: { type: 'EXIT', name: 'End' } })
const workflow = await ours.GET('/workflows/{id}', { params: { path } })
const unit = workflow.data?.steps.flatMap((step) =>
	step.type === 'DELAY' && 'unit' in step.config ? [step.config.unit] : [],
)

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
const getMail = async () => (await ours.GET('/emails/{id}', { params: { path: { id: emailId } } })).data
let [campaign, mail] = await Promise.all([get(), getMail()])
for (let tries = 0; (campaign.status !== 'SENT' || mail?.status !== 'SENT') && tries < 600; tries++) {
	await new Promise((done) => setTimeout(done, 100))
	;[campaign, mail] = await Promise.all([get(), getMail()])
}

const missing = await ours.GET('/contacts/{id}', { params: { path: { id: emailId } } })
const simple = await ours.POST('/segments', { body: { type: 'STATIC' } as never })
const deleted = await ours.DELETE('/campaigns/{id}', { params: { path: { id } } })

console.log(JSON.stringify({
	mail: [mail?.to, mail?.status],
	campaign: [campaign.status, campaign.sentCount],
	missing: missing.error?.error,
	simple: simple.error?.error,
	deleted: [deleted.response.status, deleted.error?.success],
	contact: contact.data?.subscribed,
	members: segment.data?.memberCount,
	steps: [wait.data?.type, workflow.data?.steps.length, unit],
}))

export async function wrongUses() {
	// @ts-expect-error There is no such path.
	await ours.GET('/contact')
	// @ts-expect-error A mail has a recipient.
	await ours.POST('/v1/send', { body: { subject: 'S', body: 'B' } })
	// @ts-expect-error An id is needed.
	await ours.GET('/campaigns/{id}')
	// @ts-expect-error A delay has no event.
	await ours.POST('/workflows/{id}/steps', { params: { path }, body: { type: 'DELAY', name: 'D', config: { eventName: 'e' } } })
	// @ts-expect-error A condition has groups.
	await ours.POST('/segments', { body: { name: 'S', condition: { logic: 'AND' } } })
	// @ts-expect-error No such type of audience.
	await ours.POST('/campaigns', { body: { name: 'N', audienceType: 'NOBODY' } })
	const { data } = await ours.GET('/campaigns')
	// @ts-expect-error A campaign has no such member.
	data?.data[0]?.nonsense
}
`

const withSdk = `
import { createClient } from './sdk/client/index.ts'
import {
	createCampaign,
	createContact,
	createSegment,
	createStep,
	createTransition,
	createWorkflow,
	getCampaign,
	getEmail,
	getSegment,
	getWorkflow,
	sendCampaign,
	sendMail,
	track,
} from './sdk/index.ts'
import type { Condition, ErrorCode, NewStep, Step } from './sdk/index.ts'

const [baseUrl = '', secretKey = '', publicKey = ''] = process.argv.slice(2)
const throwOnError = true
const client = createClient({ baseUrl, auth: secretKey })
const browser = createClient({ baseUrl, auth: publicKey })

const sent = await sendMail({
	client,
	throwOnError,
	body: { to: ['cleo@example.org'], from: 'me@example.com', subject: 'Hello', body: '<p>Hi</p>' },
})
const tracked = await track({ client: browser, throwOnError, body: { email: 'cleo@example.org', event: 'bought' } })
const eventId: string = tracked.data.data.event
const contact = await createContact({ client, throwOnError, body: { email: 'dora@example.org', data: { plan: 'free' } } })

const condition: Condition = {
	logic: 'AND',
	groups: [
		{
			filters: [{ field: 'data.plan', operator: 'equals', value: 'free' }],
			conditions: { logic: 'OR', groups: [{ filters: [{ field: 'email', operator: 'contains', value: 'dora' }] }] },
		},
	],
}
const made = await createSegment({ client, throwOnError, body: { name: 'Free', condition } })
const segment = await getSegment({ client, throwOnError, path: { id: made.data.id } })
const nested = segment.data.condition?.groups[0]?.conditions?.logic

const { data: workflow } = await createWorkflow({ client, throwOnError, body: { name: 'Onboarding', eventName: 'bought' } })
const path = { id: workflow.id }
const add = async (body: NewStep): Promise<Step> => (await createStep({ client, throwOnError, path, body })).data
await add({ type: 'WAIT_FOR_EVENT', name: 'Login', config: { eventName: 'login', timeout: 60 } })
const choice = await add({ type: 'CONDITION', name: 'Free?', config: condition })
const end = await add({ type: 'EXIT', name: 'End', autoConnect: false })
await createTransition({ client, throwOnError, path, body: { fromStepId: choice.id, toStepId: end.id, branch: 'yes' } })
const { data: whole } = await getWorkflow({ client, throwOnError, path })
const waits = whole.steps.map((step) => (step.type === 'WAIT_FOR_EVENT' && 'timeout' in step.config ? step.config.timeout : null))

const { data: campaign } = await createCampaign({
	client,
	throwOnError,
	body: {
		name: 'News',
		subject: 'News',
		body: '<p>News</p>',
		from: 'me@example.com',
		type: 'TRANSACTIONAL',
		audienceType: 'FILTERED',
		audienceCondition: condition,
	},
})
await sendCampaign({ client, throwOnError, path: { id: campaign.data.id }, body: {} })
const readCampaign = async () => (await getCampaign({ client, throwOnError, path: { id: campaign.data.id } })).data
const readMail = async () =>
	(await getEmail({ client, throwOnError, path: { id: sent.data.data.emails[0]!.email } })).data
let [now, mail] = await Promise.all([readCampaign(), readMail()])
for (let tries = 0; (now.status !== 'SENT' || mail.status !== 'SENT') && tries < 600; tries++) {
	await new Promise((done) => setTimeout(done, 100))
	;[now, mail] = await Promise.all([readCampaign(), readMail()])
}
const refused = await createTransition({ client, path, body: { fromStepId: end.id, toStepId: choice.id } })
const code: ErrorCode | undefined = refused.error?.error.code

console.log(JSON.stringify({
	mail: [mail.to, mail.status],
	event: eventId.length,
	contact: contact.data._meta.isNew,
	segment: [segment.data.memberCount, nested],
	steps: whole.steps.map(({ type }) => type),
	waits: waits.filter((timeout) => timeout !== null),
	campaign: [now.status, now.sentCount],
	code,
}))

export async function wrongUses() {
	// @ts-expect-error A mail has a recipient.
	await sendMail({ client, body: { subject: 'S', body: 'B' } })
	// @ts-expect-error A delay has a unit.
	await add({ type: 'DELAY', name: 'D', config: { amount: 1 } })
	// @ts-expect-error There is no such type of step.
	await add({ type: 'PAUSE', name: 'P' })
	// @ts-expect-error There is no such operator.
	await createSegment({ client, body: { name: 'S', condition: { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'is' }] }] } } })
	// @ts-expect-error There is no such status.
	if (now.status === 'DONE') return
}
`

/** Inside the folder where the programs find their modules. */
function folderOf(t: ExecutionContext) {
	mkdirSync(join(root, '.cache'), { recursive: true })
	const folder = mkdtempSync(join(root, '.cache', 'client-'))
	t.teardown(() => rmSync(folder, { recursive: true, force: true }))
	return folder
}

const tsconfig = (options: object, ...include: string[]) =>
	JSON.stringify({
		extends: '../../tsconfig.json',
		compilerOptions: { lib: ['es2024', 'dom', 'dom.iterable'], skipLibCheck: false, ...options },
		include,
	})

/** The compiler's complaints; empty if there are none. */
async function complaints(folder: string, project: string) {
	const tsc = join(root, 'node_modules/typescript/bin/tsc')
	const { stdout } = await run(process.execPath, [tsc, '-p', join(folder, project)]).catch(
		({ stdout }: { stdout: string }) => ({ stdout }),
	)
	return stdout
}

test('clients of two generators are typed, and send, track, build and run campaigns', async (t) => {
	const servers = {
		databaseUrl: process.env['DATABASE_URL']!,
		temporalAddress: process.env['TEMPORAL_ADDRESS']!,
	}
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const folder = folderOf(t)
	const document = await (await fetch(`${stack.apiUrl}/openapi.json`)).text()
	await generateSdk(document, join(folder, 'sdk'))
	const files: Record<string, string> = {
		'api.d.ts': await generateTypes(document),
		'with-types.ts': withTypes,
		'with-sdk.ts': withSdk,
		'types.json': tsconfig({}, 'with-types.ts'),
		// This generator's output is not made for the strictest compiler settings.
		'sdk.json': tsconfig({ exactOptionalPropertyTypes: false }, 'with-sdk.ts'),
	}
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
	t.is(await complaints(folder, 'types.json'), '')
	t.is(await complaints(folder, 'sdk.json'), '')

	const { apiUrl, secretKey, publicKey } = stack
	const outcome = async (program: string) => {
		const args = ['--import=tsx', program, apiUrl, secretKey, publicKey]
		return JSON.parse((await run(process.execPath, args, { cwd: folder })).stdout)
	}
	const first = await outcome('with-types.ts')
	t.is(first.missing.code, 'CONTACT_NOT_FOUND')
	t.like(first, {
		mail: ['ann@example.org', 'SENT'],
		campaign: ['SENT', 2],
		simple: 'name is required',
		deleted: [204],
		contact: true,
		members: 1,
		steps: ['DELAY', 3, ['days']],
	})
	t.deepEqual(await outcome('with-sdk.ts'), {
		mail: ['cleo@example.org', 'SENT'],
		event: 36,
		contact: true,
		segment: [1, 'OR'],
		steps: ['TRIGGER', 'WAIT_FOR_EVENT', 'CONDITION', 'EXIT'],
		waits: [60],
		campaign: ['SENT', 1],
		code: 'BAD_REQUEST',
	})
})
