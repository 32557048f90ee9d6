import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { originOf } from '../bench/console/console-person.ts'
import { Tempost } from '../client/index.ts'
import { openBrowser } from './helpers/browser.ts'
import { builtConsole, desktop, faultsOf, phone } from './helpers/console.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { runningStack } from './helpers/running-stack.ts'
import { startReceiver } from './helpers/webhook-receiver.ts'

const account = { email: 'nora@example.org', password: 'a long pass phrase' }
const domain = 'fernwood.example'

/** An installation with a worker, DNS and a program of the user, and a browser that knows nothing of them. */
async function arrive(t: ExecutionContext, viewport: typeof phone) {
	await builtConsole()
	const dns = await dnsServer(t)
	const receiver = await startReceiver(t)
	const { stack } = await runningStack(t, {
		DNS_SERVERS: dns.address,
		ALLOW_PRIVATE_WEBHOOKS: 'true',
	})
	const page = await openBrowser(t, { viewport })
	page.setDefaultTimeout(60_000)
	return { page, dns, receiver, origin: originOf(stack), faults: faultsOf(page) }
}

async function goTo(page: Page, name: string, heading = name) {
	const navigation = page.getByRole('button', { name: 'Navigation' })
	if (await navigation.isVisible()) await navigation.click()
	await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
	await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
}

async function signUp(page: Page, origin: string) {
	await page.goto(origin)
	await page.getByRole('link', { name: 'Sign up' }).click()
	await page.getByRole('heading', { name: 'Sign up' }).waitFor()
	await page.getByLabel('Email address').fill(account.email)
	await page.getByLabel('Password').fill(account.password)
	await page.getByRole('button', { name: 'Create the account' }).click()
	await page.getByRole('heading', { name: 'New project' }).waitFor()
	await page.goto(`${origin}/console/log-in`)
	await page.getByLabel('Email address').fill(account.email)
	await page.getByLabel('Password').fill(account.password)
	await page.getByRole('button', { name: 'Log in' }).click()
	await page.getByRole('heading', { name: 'New project' }).waitFor()
	await page.getByLabel('Name', { exact: true }).fill('Fernwood')
	await page.getByRole('button', { name: 'Create the project' }).click()
	const textOf = async (start: RegExp) => (await page.getByText(start).textContent())!
	const [secretKey, publicKey] = [await textOf(/^sk_/), await textOf(/^pk_/)]
	await page.getByRole('link', { name: 'I have kept the key' }).click()
	await page.getByRole('heading', { level: 1, name: 'Fernwood' }).waitFor()
	return {
		projectId: new URL(page.url()).pathname.split('/')[2]!,
		/** What the user's program calls. */
		tempost: new Tempost({ url: origin, secretKey, publicKey }),
	}
}

type Zone = Awaited<ReturnType<typeof dnsServer>>['zone']
type Project = Awaited<ReturnType<typeof signUp>>

async function verifyDomain(page: Page, { tempost, projectId }: Project, zone: Zone) {
	await page.getByRole('link', { name: 'Add your domain' }).click()
	await page.getByRole('button', { name: 'Add domain' }).first().click()
	await page.getByRole('dialog').getByLabel('Domain').fill(domain)
	await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
	await page.getByRole('heading', { level: 1, name: domain }).waitFor()
	const [added] = await tempost.domains.list(projectId)
	for (const { type, name, value } of added!.records) zone[name] = { [type]: [value] }
	await page.getByRole('button', { name: 'Check now' }).click()
	await page.getByText(`${domain} is verified`).waitFor()
}

/** Runs the command that the page shows, as it is. */
async function sendFirstMail(page: Page) {
	await goTo(page, 'Start', 'Fernwood')
	const command = (await page.getByLabel('example', { exact: true }).textContent())!
	const { stdout } = await promisify(execFile)('sh', ['-c', command])
	return JSON.parse(stdout) as { success: boolean }
}

async function seeMail(page: Page) {
	await goTo(page, 'Emails')
	await page.getByRole('link', { name: 'nora@example.org' }).click()
	await page.getByText('Handed over to the provider').waitFor()
	await page.frameLocator('iframe[title=Mail]').getByText('It works.').waitFor()
}

async function importPeople(page: Page) {
	await goTo(page, 'Contacts')
	await page.getByRole('link', { name: 'Import' }).first().click()
	const rows = Array.from(
		{ length: 1000 },
		(_, i) => `reader-${i}@example.org,Reader ${i},${['free', 'pro', 'team', 'scale'][i % 4]}`,
	)
	await page.getByLabel('CSV file').setInputFiles({
		name: 'people.csv',
		mimeType: 'text/csv',
		buffer: Buffer.from(`email,name,plan\n${rows.join('\n')}\n`),
	})
	await page.getByRole('button', { name: 'Import', exact: true }).click()
	await page.getByText('The import is complete').waitFor()
}

async function buildSegment(page: Page) {
	await goTo(page, 'Segments')
	await page.getByRole('link', { name: 'New segment' }).first().click()
	await page.getByRole('heading', { level: 1, name: 'New segment' }).waitFor()
	await page.getByLabel('Name', { exact: true }).fill('Pro')
	await page.getByRole('group', { name: 'Condition' }).getByText('choose a field').click()
	await page.getByRole('option', { name: 'plan' }).click()
	await page.getByLabel('Value', { exact: true }).fill('pro')
	await page
		.getByText(/^250 contacts?/)
		.first()
		.waitFor()
	await page.getByRole('button', { name: 'Create the segment' }).click()
	await page.getByRole('heading', { level: 1, name: 'Pro' }).waitFor()
}

async function sendCampaign(page: Page) {
	await goTo(page, 'Campaigns')
	await page.getByRole('link', { name: 'New campaign' }).first().click()
	await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
	await page.getByLabel('Name', { exact: true }).fill('Spring')
	await page.getByLabel('From', { exact: true }).fill(`news@${domain}`)
	await page.getByRole('button', { name: 'Write it' }).click()
	await page.getByRole('heading', { level: 1, name: 'Spring' }).waitFor()
	await page.getByLabel('Subject').fill('Hello {{ name }}')
	await page.getByLabel('Type').selectOption('Transactional')
	await page.getByText('Segment', { exact: true }).click()
	await page.getByRole('combobox', { name: 'Segment' }).selectOption('Pro')
	await page.getByText('250 contacts get it').waitFor()
	await page.getByRole('button', { name: 'Send…' }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Send to 250 contacts' }).click()
	await page.getByText('250 sent').waitFor()
}

const addStep = async (page: Page, place: string, kind: string) => {
	await page
		.getByRole('group', { name: 'Steps of the workflow' })
		.getByRole('button', { name: `Add a step ${place}`, exact: true })
		.click()
	await page.getByRole('dialog').getByRole('button', { name: kind }).click()
}

async function buildWorkflow(page: Page) {
	await goTo(page, 'Workflows')
	await page.getByRole('button', { name: 'New workflow' }).first().click()
	await page.getByLabel('Name', { exact: true }).fill('Onboarding')
	await page.getByLabel('Starts with the event').fill('signup')
	await page.getByRole('button', { name: 'Create workflow' }).click()
	await page.getByRole('heading', { level: 1, name: 'Onboarding' }).waitFor()
	await addStep(page, 'after Trigger', 'Wait for event')
	await page.getByLabel('Name', { exact: true }).fill('Order')
	await page.getByLabel('Event', { exact: true }).fill('order')
	await page.getByLabel('Stop waiting after a time').check()
	await page.getByRole('button', { name: 'Close the step' }).click()
	await addStep(page, 'after Order, time-out', 'Exit')
	await page.getByRole('button', { name: 'Close the step' }).click()
	await page.getByText('No problems').waitFor()
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Saved', { exact: true }).waitFor()
	await page.getByRole('button', { name: 'Enable', exact: true }).click()
	await page.getByText('New people get version 1.').waitFor()
}

/** Someone signs up at the user's program, and stands at the wait. */
async function seePerson(page: Page, { tempost }: Project) {
	await tempost.track({ email: 'pia@example.org', event: 'signup' })
	await page.getByRole('button', { name: /^Wait for event Order.*1 here now/ }).waitFor()
	await page.getByRole('tab', { name: 'People' }).click()
	await page.getByRole('link', { name: 'pia@example.org' }).click()
	await page.getByRole('heading', { level: 1, name: 'pia@example.org' }).waitFor()
}

async function addWebhook(page: Page, url: string) {
	await goTo(page, 'Webhooks')
	await page.getByRole('link', { name: 'New endpoint' }).first().click()
	await page.getByRole('heading', { level: 1, name: 'New endpoint' }).waitFor()
	await page.getByRole('textbox', { name: 'Address' }).fill(url)
	await page.getByLabel('email.sent').check()
	await page.getByRole('button', { name: 'Create the endpoint' }).click()
	await page.getByText(/^whsec_/).waitFor()
	await page.getByRole('link', { name: 'I have kept the secret' }).click()
	await page.getByRole('button', { name: 'Send a test' }).click()
	await page.getByRole('button', { name: 'Send the sample' }).click()
	await page.getByRole('dialog').getByText('It answered 200').waitFor()
	await page.keyboard.press('Escape')
}

for (const [screen, viewport] of Object.entries({ desktop, phone }))
	test(`the first hour of a new user leads from sign-up to a webhook, on a ${screen}`, async (t) => {
		const { page, dns, receiver, origin, faults } = await arrive(t, viewport)
		const project = await signUp(page, origin)
		await verifyDomain(page, project, dns.zone)
		t.true((await sendFirstMail(page)).success)
		await seeMail(page)
		await importPeople(page)
		await buildSegment(page)
		await sendCampaign(page)
		await buildWorkflow(page)
		await seePerson(page, project)
		await addWebhook(page, receiver.url)
		t.deepEqual(
			receiver.heard.map(({ type }) => type),
			['email.sent'],
		)
		t.true(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`))
		// The first request of somebody who has no session yet.
		t.deepEqual(
			faults.filter((fault) => !fault.includes('401')),
			[],
		)
	})
