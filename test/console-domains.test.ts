import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { testSettings } from './helpers/app.ts'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { type DomainBody, nameOf, smtp, valueOf, zoneOf } from './helpers/domains.ts'

async function setupDomainPages(
	t: ExecutionContext,
	options: Parameters<typeof setupConsole>[1] = {},
) {
	const dns = await dnsServer(t)
	const env = { ...testSettings().env, ...smtp, EMAIL_PROVIDER: 'smtp' as const }
	const settings = { env, dnsServers: [dns.address] }
	const all = await setupConsole(t, { ...options, setup: { settings } })
	const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
		all.app.inject({ method, url, headers: all.withSecretKey, ...(payload && { payload }) })
	return {
		...all,
		dns,
		call,
		add: async (domain: string) => (await call('POST', '/domains', { domain })).json<DomainBody>(),
	}
}

const record = (page: Page, purpose: string) =>
	page.getByRole('region', { name: `${purpose} record` })

test('a domain is added, shows what DNS has and what to do, and is verified', async (t) => {
	const { page, open, dns, call, project, faults } = await setupDomainPages(t, {
		browser: { permissions: ['clipboard-read', 'clipboard-write'] },
	})
	await open('domains')
	await page.getByRole('button', { name: 'Add domain' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Domain').fill('no domain')
	await dialog.getByRole('button', { name: 'Add domain' }).click()
	await dialog.getByRole('alert').waitFor()
	await dialog.getByLabel('Domain').fill('example.org')
	await dialog.getByRole('button', { name: 'Add domain' }).click()
	await page.getByRole('heading', { level: 1, name: 'example.org' }).waitFor()
	await page.getByRole('button', { name: 'Check now' }).click()
	// The record of DMARC is advice.
	await page.getByText('not verified yet: 2 records are missing').waitFor()
	await record(page, 'DKIM').getByText('DNS has no such record yet').waitFor()
	const [domain] = (await call('GET', `/domains/project/${project.id}`)).json<[DomainBody]>()
	const wanted = valueOf(domain.records, 'DKIM')
	const dkim = record(page, 'DKIM')
	// It says so for a moment only, which a busy browser may not draw.
	const isSaid = page.evaluate(`new Promise((seen, fail) => {
		setTimeout(fail, 60_000, new Error('The button does not say Copied'))
		const observer = new MutationObserver(() => {
			if (document.querySelector('button[aria-label="Copied"]')) seen(observer.disconnect())
		})
		observer.observe(document.body, { subtree: true, childList: true, attributes: true })
	})`)
	await Promise.all([isSaid, dkim.getByRole('button', { name: 'Copy the value' }).click()])
	t.is(await page.evaluate('navigator.clipboard.readText()'), wanted)
	dns.zone[nameOf(domain.records, 'DKIM')] = { TXT: ['v=DKIM1; p=other'] }
	dns.zone['example.org'] = { TXT: ['v=spf1 -all'] }
	await page.getByRole('button', { name: 'Check now' }).click()
	await record(page, 'DKIM').getByText('v=DKIM1; p=other').waitFor()
	await record(page, 'DKIM').getByText('DNS has another value').waitFor()
	await record(page, 'SPF').getByText('add a:relay.example.net to it').waitFor()
	Object.assign(dns.zone, zoneOf(domain))
	await page.getByRole('button', { name: 'Check now' }).click()
	await page.getByText('example.org is verified: mail can be sent from it').waitFor()
	t.is(await record(page, 'DKIM').getByText('Found', { exact: true }).count(), 2)
	t.deepEqual(
		faults.filter((fault) => !fault.includes('422')),
		[],
	)
})

test('a record that DNS has is not called wrong while the mail provider has not confirmed it', async (t) => {
	const { page, open, add, faults } = await setupDomainPages(t)
	const { id } = await add('example.org')
	await page.route('**/domains/project/*', async (route) => {
		const answer = await route.fetch()
		const [domain] = (await answer.json()) as [DomainBody]
		const records = domain.records.map((one) => ({
			...one,
			status: 'pending',
			found: one.purpose === 'DKIM' ? [`"${one.value.slice(0, 20)}" "${one.value.slice(20)}"`] : [],
		}))
		await route.fulfill({ response: answer, json: [{ ...domain, records }] })
	})
	await open(`domains/${id}`)
	await record(page, 'DKIM').getByText('Not confirmed', { exact: true }).waitFor()
	await record(page, 'DKIM').getByText('DNS has this record.').waitFor()
	await record(page, 'SPF').getByText('Missing').waitFor()
	t.deepEqual(faults, [])
})

test('a pending domain turns verified by itself, without looking at DNS from the page', async (t) => {
	const { page, open, add, call, dns, faults } = await setupDomainPages(t)
	const domain = await add('example.org')
	await page.clock.install()
	await open(`domains/${domain.id}`, 'example.org')
	await page.getByText('Pending').waitFor()
	Object.assign(dns.zone, zoneOf(domain))
	await call('GET', `/domains/${domain.id}/verify`)
	const asked = dns.queries.length
	await page.clock.runFor(31_000)
	await page.getByText('Verified', { exact: true }).waitFor()
	t.is(dns.queries.length, asked)
	t.deepEqual(faults, [])
})

test('a domain is not deleted while mail is sent from it, and its senders are listed', async (t) => {
	const { page, open, add, call, dns, home, faults } = await setupDomainPages(t, {
		browser: { viewport: phone },
	})
	const domain = await add('example.org')
	const { id } = domain
	Object.assign(dns.zone, zoneOf(domain))
	await call('GET', `/domains/${id}/verify`)
	const template = await call('POST', '/templates', {
		name: 'Receipt',
		subject: 'Thank you',
		body: '<p>Thank you</p>',
		from: 'shop@example.org',
		type: 'TRANSACTIONAL',
	})
	t.is(template.statusCode, 201, template.body)
	await open(`domains/${id}`, 'example.org')
	const remove = async () => {
		await page.getByRole('button', { name: 'Delete', exact: true }).click()
		await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the domain' }).click()
	}
	await remove()
	await page.getByRole('alert').getByText('Mail is sent from example.org').waitFor()
	const sender = page.getByRole('link', { name: 'Receipt' })
	t.true((await sender.getAttribute('href'))!.endsWith(`/templates/${template.json().id}`))
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await call('DELETE', `/templates/${template.json().id}`)
	await remove()
	await page.getByRole('heading', { name: 'No domain yet' }).waitFor()
	t.is(page.url(), `${home}/domains`)
	t.deepEqual(
		faults.filter((fault) => !fault.includes('409')),
		[],
	)
})

test('a member checks domains, but does not add or delete them', async (t) => {
	const { page, open, add, faults } = await setupDomainPages(t, { role: 'MEMBER' })
	const { id } = await add('example.org')
	await open('domains')
	await page.getByText('Only admins and the owner add domains').waitFor()
	await page.getByRole('link', { name: 'example.org' }).click()
	await page.getByRole('button', { name: 'Check now' }).click()
	await page.getByText('is not verified yet').waitFor()
	t.is(await page.getByRole('button', { name: 'Delete', exact: true }).count(), 0)
	t.true(page.url().endsWith(id))
	t.deepEqual(faults, [])
})

test('the pages of domains have no barrier', async (t) => {
	const { page, open, add, faults } = await setupDomainPages(t)
	await open('domains')
	await page.getByRole('heading', { name: 'No domain yet' }).waitFor()
	t.deepEqual(await barriersOf(page), [])
	const { id } = await add('example.org')
	for (const path of ['domains', `domains/${id}`]) {
		await open(path)
		await page.getByText('Pending').waitFor()
		t.deepEqual(await barriersOf(page), [], path)
	}
	t.deepEqual(faults, [])
})
