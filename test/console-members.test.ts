import { until } from '../bench/load.ts'
import test, { type ExecutionContext } from 'ava'
import { setupConsole } from './helpers/console.ts'
import { addMember, createUser } from './helpers/people.ts'

async function setupMembers(t: ExecutionContext) {
	const all = await setupConsole(t, { role: 'ADMIN' })
	const { app, orm, pool, project, page } = all
	for (const [email, role] of [
		['owner@example.org', 'OWNER'],
		['ben@example.org', 'MEMBER'],
	] as const)
		await addMember(orm, project, (await createUser(app, orm, email)).user, role)
	return {
		...all,
		roles: async () => {
			const { rows } = await pool.query<{ email: string; role: string }>(
				`select email, role from memberships join users on id = user_id where project_id = $1`,
				[project.id],
			)
			return Object.fromEntries(rows.map(({ email, role }) => [email.split('@')[0], role]))
		},
		agree: (name: string) =>
			page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click(),
		invite: async (email: string) => {
			await page.getByRole('button', { name: 'Add a member' }).click()
			await page.getByLabel('Email address').fill(email)
			await page.getByRole('button', { name: 'Add', exact: true }).click()
		},
	}
}

test('roles are changed, and taken back; oneself and the owner are left alone', async (t) => {
	const { page, open, roles, agree, faults } = await setupMembers(t)
	await open('settings/members')
	const role = page.getByLabel('Role of ben@example.org')
	await role.selectOption('Administrator')
	await page.getByText('ben@example.org is an administrator now').waitFor()
	t.is((await roles())['ben'], 'ADMIN')
	await page.getByRole('button', { name: 'Undo' }).click()
	await page.getByText('The role is as it was').waitFor()
	t.is((await roles())['ben'], 'MEMBER')
	t.is(await page.getByLabel(/^Role of/).count(), 1)
	await page.getByRole('button', { name: 'Remove ben@example.org' }).click()
	await agree('Cancel')
	t.is((await roles())['ben'], 'MEMBER')
	await page.getByRole('button', { name: 'Remove ben@example.org' }).click()
	await agree('Remove them')
	await page.getByText('ben@example.org is removed').waitFor()
	t.deepEqual(await roles(), { ann: 'ADMIN', owner: 'OWNER' })
	t.deepEqual(faults, [])
})

test('people without an account are invited, again, and not any more', async (t) => {
	const { page, open, pool, agree, invite, faults } = await setupMembers(t)
	await open('settings/members')
	await page.getByText('Nobody is invited at present').waitFor()
	await invite('eve@example.org')
	await page.getByText('An invitation is on its way to eve@example.org').waitFor()
	const mails = async () =>
		(await pool.query(`select from emails where "to" = 'eve@example.org'`)).rowCount
	t.is(await mails(), 1)
	await page.getByRole('button', { name: 'Send again to eve@example.org' }).click()
	await agree('Send it again')
	await page.getByText('An invitation is on its way').last().waitFor()
	await page.getByRole('alertdialog').waitFor({ state: 'detached' })
	t.true(await until(async () => (await mails()) === 2, 10_000))
	await page.getByRole('button', { name: 'Revoke the invitation of eve@example.org' }).click()
	await agree('Revoke the invitation')
	await page.getByText('Nobody is invited at present').waitFor()
	t.deepEqual(faults, [])
})

test('a person with an account becomes a member at once, and only once', async (t) => {
	const { app, orm, page, open, roles, invite, faults } = await setupMembers(t)
	await createUser(app, orm, 'eve@example.org')
	await open('settings/members')
	await invite('eve@example.org')
	await page.getByText('eve@example.org is a member now').waitFor()
	t.is((await roles())['eve'], 'MEMBER')
	await invite('eve@example.org')
	await page.getByRole('dialog').getByText('This person is already a member').waitFor()
	t.deepEqual(
		faults.filter((fault) => !fault.includes('409')),
		[],
	)
})
