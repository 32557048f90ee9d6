import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import { mailsOfClaim } from '../db/emails/ledger.ts'
import { mailStep, setupExecutions } from './helpers/executions.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { setupSend } from './helpers/send.ts'

/** Delivers all mails that wait, and returns the addresses of those that left. */
async function deliver(pool: Pool) {
	const sent: string[] = []
	const { provider } = scriptedProvider((message) => void sent.push(message.to.email))
	const { services } = deliveryServices(pool, provider, {})
	for (const run of await claim(pool))
		await deliverMails(services, () =>
			mailsOfClaim(pool, { claimId: claimOf(run), provider: 'local' }),
		)
	return sent.toSorted()
}

const outcomes = async (pool: Pool) =>
	(
		await pool.query<{ status: string; error: string | null }>(
			'select status, error from emails order by id',
		)
	).rows.map(({ status, error }) => [status, error])

async function sentToThree(t: ExecutionContext) {
	const all = await setupSend(t)
	const { createTemplate, createContact, sent } = all
	const { id: template } = await createTemplate({ type: 'MARKETING' })
	for (const email of ['gone@a.org', 'leaves@a.org', 'stays@a.org'])
		await createContact(email, { subscribed: true })
	await sent({ template, to: ['gone@a.org', 'leaves@a.org', 'stays@a.org'] })
	return all
}

test('a mail of a MARKETING template does not leave once its contact has unsubscribed or was deleted', async (t) => {
	const { pool } = await sentToThree(t)
	await pool.query(`update contacts set subscribed = false where email <> 'stays@a.org'`)
	await pool.query(`delete from contacts where email = 'gone@a.org'`)
	t.deepEqual(await deliver(pool), ['stays@a.org'])
	t.deepEqual(await outcomes(pool), [
		['CANCELLED', 'The contact was deleted'],
		['CANCELLED', 'The contact is not subscribed'],
		['SENT', null],
	])
})

for (const type of ['MARKETING', 'HEADLESS'] as const)
	test(`a ${type} mail of a workflow does not leave once its contact was deleted`, async (t) => {
		const { freeze, contact, track, executionId, advance, pool, template } =
			await setupExecutions(t)
		await contact('ann@example.org', {}, true)
		await freeze({ on: 'x', steps: [mailStep] }, await template({ type }))
		await track('x')
		await advance(await executionId())
		await pool.query('update contacts set subscribed = false')
		await pool.query('delete from contacts')
		t.deepEqual(await deliver(pool), [])
		t.deepEqual(await outcomes(pool), [['CANCELLED', 'The contact was deleted']])
	})

test('a transactional mail leaves, whatever becomes of its contact', async (t) => {
	const { pool, sent } = await setupSend(t)
	await sent({ to: ['ann@a.org'] })
	await pool.query('delete from contacts')
	t.deepEqual(await deliver(pool), ['ann@a.org'])
})

test('a mail that is sent again needs the consent that the first one needed', async (t) => {
	const { pool, app, withSecretKey: headers } = await sentToThree(t)
	await deliver(pool)
	const { rows } = await pool.query<{ id: string; to: string }>('select id, "to" from emails')
	const again = async ({ id }: { id: string }) =>
		(await app.inject({ method: 'POST', url: `/emails/${id}/resend`, headers })).statusCode
	for (const row of rows) t.is(await again(row), 202, row.to)
	await pool.query(`update contacts set subscribed = false where email <> 'stays@a.org'`)
	await pool.query(`delete from contacts where email = 'gone@a.org'`)
	for (const row of rows) t.is(await again(row), row.to === 'stays@a.org' ? 202 : 409, row.to)
	t.deepEqual(await deliver(pool), ['stays@a.org', 'stays@a.org'])
})
