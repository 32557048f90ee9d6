import test, { type ExecutionContext } from 'ava'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'

const temporalUi = { url: 'https://temporal.example', namespace: 'mail' }

async function setupSystemPage(
	t: ExecutionContext,
	options: Parameters<typeof setupConsole>[1] = {},
) {
	const all = await setupConsole(t, {
		...options,
		setup: { ...options.setup, settings: { temporalUi, ...options.setup?.settings } },
	})
	return { ...all, run: (text: string) => all.pool.query(text, [all.project.id]) }
}

test('doubt leads to its mails, and a run to Temporal', async (t) => {
	const { page, open, home, run, faults } = await setupSystemPage(t)
	await run(
		`insert into emails (project_id, "to", "from", subject, source_type, status, attempt_started_at)
		values ($1, 'ann@example.org', 'shop@example.com', 'News', 'TRANSACTIONAL', 'UNCERTAIN', now())`,
	)
	const { rows } = await run(
		`insert into jobs (project_id, type) values ($1, 'bulk-delete') returning id`,
	)
	await open('system')
	await page.getByText('Mail is sent at once').waitFor()
	const link = page.getByRole('link', { name: `bulk/${rows[0].id} in Temporal` })
	t.is(
		await link.getAttribute('href'),
		`https://temporal.example/namespaces/mail/workflows/bulk%2F${rows[0].id}`,
	)
	await page.getByRole('link', { name: 'Resolve mails in doubt' }).click()
	await page.getByRole('link', { name: 'ann@example.org' }).waitFor()
	t.is(page.url(), `${home}/emails?status=UNCERTAIN`)
	t.deepEqual(faults, [])
})

test('what is away is named, with what to do, and disappears once it is back', async (t) => {
	const state = { temporal: true, worker: false }
	const { page, open, faults } = await setupSystemPage(t, {
		browser: { viewport: phone },
		setup: { services: { checkTemporal: async () => ({ ...state }) } },
	})
	await open('system')
	await page.getByText('No mail is sent').waitFor()
	await page.getByText('Start one with npm run worker').waitFor()
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	state.worker = true
	await page.getByText('Mail is sent at once').waitFor()
	await page.getByText('At least one is running').waitFor()
	t.deepEqual(faults, [])
})

test('only the owner sees the system', async (t) => {
	const { page, open, faults } = await setupSystemPage(t, { role: 'ADMIN' })
	await open('system')
	await page.getByText('Only the owner sees this page').waitFor()
	t.is(await page.getByRole('link', { name: 'System', exact: true }).count(), 0)
	t.deepEqual(faults, [])
})

test('the page of the system has no barrier', async (t) => {
	const { page, open, run, faults } = await setupSystemPage(t)
	await run(`insert into jobs (project_id, type) values ($1, 'import')`)
	await open('system')
	await page.getByText('Imports contacts').waitFor()
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})
