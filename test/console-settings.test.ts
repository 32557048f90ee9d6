import test from 'ava'
import { Project } from '../db/projects/project.ts'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { addMember, createUser } from './helpers/people.ts'

test('an administrator changes name, language, tracking and postal address; faults are at their fields', async (t) => {
	const { page, open, project, orm, faults } = await setupConsole(t, {
		role: 'ADMIN',
	})
	await open('settings')
	const name = page.getByRole('textbox', { name: 'Name' })
	await name.fill(' ')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByRole('alert').waitFor()
	t.is(await name.getAttribute('aria-invalid'), 'true')
	await name.fill('Shop')
	await page.getByLabel('Language').selectOption('German')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Name and language are saved').waitFor()
	await page.getByRole('button', { name: 'Shop' }).waitFor()
	await page.getByRole('link', { name: 'Sending' }).click()
	await page.getByLabel('Count opens and clicks').selectOption('In no mail')
	await page.getByLabel('Postal address').fill('1 High Street\nSpringfield')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('Tracking and postal address are saved').waitFor()
	const changed = await orm.em.fork().findOneOrFail(Project, project.id)
	t.like(changed, {
		name: 'Shop',
		language: 'de',
		tracking: 'DISABLED',
		postalAddress: '1 High Street\nSpringfield',
	})
	t.deepEqual(
		faults.filter((fault) => !fault.includes('422')),
		[],
	)
})

test('a member reads the settings, and is offered no act that would be refused', async (t) => {
	const { page, open, faults } = await setupConsole(t, { role: 'MEMBER' })
	await open('settings')
	await page.getByText('Only administrators change these settings').waitFor()
	const tabs = await page
		.getByRole('navigation', { name: 'Settings' })
		.getByRole('link')
		.allTextContents()
	t.deepEqual(tabs, ['General', 'Members', 'Keys', 'Sending', 'Suppressions', 'Reputation'])
	for (const [tab, sign] of [
		['Members', 'ann@example.org'],
		['Keys', 'Only administrators replace the keys'],
		['Sending', 'Only administrators change these settings'],
	] as const) {
		await page.getByRole('link', { name: tab }).click()
		await page.getByRole('main').getByText(sign).first().waitFor()
		t.is(
			await page
				.getByRole('main')
				.getByRole('button', { name: /Save|Add|Replace|Reset|Remove/ })
				.count(),
			0,
		)
	}
	t.deepEqual(faults, [])
})

test('a reset says what it deletes, asks for the name, and empties the project', async (t) => {
	const { page, open, app, withSecretKey, faults } = await setupConsole(t, { role: 'ADMIN' })
	const contacts = async () =>
		(await app.inject({ url: '/contacts', headers: withSecretKey })).json().total as number
	for (const email of ['ben@example.org', 'eve@example.org'])
		await app.inject({
			method: 'POST',
			url: '/contacts',
			headers: withSecretKey,
			payload: { email },
		})
	await open('settings')
	t.is(await page.getByRole('button', { name: 'Delete the project…' }).count(), 0)
	await page.getByRole('button', { name: 'Reset the project…' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByText('Contacts').waitFor()
	t.is(
		await dialog
			.locator('div', { has: page.getByText('Contacts', { exact: true }) })
			.last()
			.textContent(),
		'Contacts2',
	)
	const act = dialog.getByRole('button', { name: 'Delete all data' })
	t.true(await act.isDisabled())
	await dialog.getByLabel('Type “Test project” to go on').fill('Test project')
	await act.click()
	await page.getByText('The project is empty').waitFor()
	t.is(await contacts(), 0)
	t.deepEqual(faults, [])
})

test('deleting a project leads to what is left', async (t) => {
	const { page, open, app, withSecretKey, faults } = await setupConsole(t)
	await open('settings')
	await page.getByRole('button', { name: 'Delete the project…' }).click()
	await page.getByLabel('Type “Test project” to go on').fill('Test project')
	await page.getByRole('button', { name: 'Delete the project', exact: true }).click()
	await page.getByRole('heading', { level: 1, name: 'New project' }).waitFor()
	t.is((await app.inject({ url: '/contacts', headers: withSecretKey })).statusCode, 401)
	t.deepEqual(faults, [])
})

test('a suspended project says so on every page, and leads to its bounces and suspensions', async (t) => {
	const { page, open, home, pool, project, faults } = await setupConsole(t)
	await open('settings/reputation')
	await page.getByText('Nothing is wrong').waitFor()
	await pool.query(
		`insert into suspensions (project_id, reason, lifted_at) values ($1, 'EMAIL_REPUTATION', now())`,
		[project.id],
	)
	await pool.query(`update projects set disabled_reason = 'EMAIL_REPUTATION' where id = $1`, [
		project.id,
	])
	await page.goto(home)
	await page.getByText('This project is disabled').waitFor()
	await page.getByRole('main').getByRole('link', { name: 'Reputation' }).click()
	await page
		.getByRole('region', { name: 'Suspensions' })
		.getByText('Too many bounces or spam reports')
		.waitFor()
	t.deepEqual(faults, [])
})

test('the settings have no barrier, and fit a phone', async (t) => {
	const { page, open, faults, app, orm, pool, project, withSecretKey } = await setupConsole(t)
	const email = `${'long'.repeat(15)}@example.org`
	await addMember(orm, project, (await createUser(app, orm, email)).user, 'MEMBER')
	await pool.query(
		`insert into invitations (project_id, email, role, token_digest, invited_by, expires_at)
		values ($1, $2, 'MEMBER', uuid_send(uuidv7()), $2, now() + '3 days')`,
		[project.id, email],
	)
	await app.inject({
		method: 'POST',
		url: '/suppressions',
		headers: withSecretKey,
		payload: { email },
	})
	for (const tab of [
		'',
		'members',
		'keys',
		'sending',
		'suppressions',
		'reputation',
		'audit',
		'billing',
	]) {
		const path = `settings/${tab}`
		await page.setViewportSize({ width: 1280, height: 900 })
		await open(path)
		await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
		t.deepEqual(await barriersOf(page), [], path)
		await page.setViewportSize(phone)
		t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`), path)
	}
	t.deepEqual(faults, [])
})
