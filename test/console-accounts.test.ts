import test from 'ava'
import { testSettings } from './helpers/app.ts'
import { barriersOf, setupConsole } from './helpers/console.ts'
import { password } from './helpers/people.ts'

test('a person whose address is not verified is told so, and has the mail sent again', async (t) => {
	const { page, open, pool, faults } = await setupConsole(t, {
		setup: { settings: { emailProvider: 'smtp' } },
	})
	await pool.query('update users set email_verified_at = null')
	await open('')
	await page.getByText('Verify your email address').waitFor()
	await page.getByRole('button', { name: 'Send the mail again' }).click()
	await page.getByText('We have sent you a mail with a link').waitFor()
	const { rows } = await pool.query<{ body: string }>(
		`select body from emails where "to" = 'ann@example.org'`,
	)
	const [, token] = /token=([\w-]+)"/.exec(rows[0]!.body)!
	await page.goto(`${new URL(page.url()).origin}/auth/verify-email?token=${token}`)
	await page.getByRole('button').click()
	await page.getByRole('link', { name: 'Open the console' }).click()
	await page.getByRole('button', { name: 'Account' }).click()
	await page.getByRole('menuitem', { name: 'Your account' }).click()
	await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
	await page.getByText('Yes').waitFor()
	t.is(await page.getByRole('button', { name: 'Send the mail again' }).count(), 0)
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})

test('somebody who accepts an invitation goes on to the console, and finds the project there', async (t) => {
	const { app, origin, page, open, pool, project, faults } = await setupConsole(t)
	await open('settings/members')
	await page.getByRole('button', { name: 'Add a member' }).click()
	await page.getByLabel('Email address').fill('eve@example.org')
	await page.getByRole('button', { name: 'Add', exact: true }).click()
	await page.getByText('An invitation is on its way').waitFor()
	await page.context().clearCookies()
	const { rows } = await pool.query<{ body: string }>(
		`select body from emails where "to" = 'eve@example.org'`,
	)
	const [, token] = /token=([\w-]+)"/.exec(rows[0]!.body)!
	await page.goto(`${origin}/auth/accept-invitation?token=${token}`)
	await page.getByLabel('Password for your account').fill(password)
	await page.getByRole('button').click()
	await page.getByRole('link', { name: 'Open the console' }).click()
	await page.getByLabel('Email address').fill('eve@example.org')
	await page.getByLabel('Password').fill(password)
	await page.getByRole('button', { name: 'Log in' }).click()
	await page.getByRole('heading', { level: 1, name: project.name }).waitFor()
	t.is((await app.inject(`/auth/accept-invitation?token=${token}`)).statusCode, 400)
	t.deepEqual(
		faults.filter((fault) => !fault.includes('401')),
		[],
	)
})

test('where sign-ups are disabled the log-in offers none', async (t) => {
	const features = { ...testSettings().features, signupsDisabled: true }
	const { page, origin, faults } = await setupConsole(t, { setup: { settings: { features } } })
	await page.context().clearCookies()
	await page.goto(`${origin}/console/log-in`)
	await page.getByRole('heading', { name: 'Log in' }).waitFor()
	await page.getByRole('link', { name: 'Sign up' }).waitFor({ state: 'detached' })
	t.deepEqual(faults, [])
})

test('a password with a space at its end is set and typed as it is', async (t) => {
	const { page, origin, app } = await setupConsole(t)
	await page.context().clearCookies()
	await page.goto(`${origin}/console/sign-up`)
	const account = { email: 'eve@example.org', password: ' a long phrase ' }
	const fill = async () => {
		await page.getByLabel('Email address').fill(account.email)
		await page.getByLabel('Password').fill(account.password)
	}
	await fill()
	await page.getByRole('button', { name: 'Create the account' }).click()
	await page.waitForURL(`${origin}/console/new-project`)
	const answer = await app.inject({ method: 'POST', url: '/auth/login', payload: account })
	t.is(answer.statusCode, 200, answer.body)
	await page.context().clearCookies()
	await page.goto(`${origin}/console/log-in`)
	await fill()
	await page.getByRole('button', { name: 'Log in' }).click()
	await page.waitForURL(`${origin}/console/new-project`)
})
