import test, { type ExecutionContext } from 'ava'
import { bearSlice, campaignLane } from '../db/campaigns/campaign-ledger.ts'
import { chores } from '../db/housekeeping.ts'
import { inChunk, transaction } from '../db/transaction.ts'
import { eraseContact } from '../db/contacts/contact-erasing.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { sendingCampaign } from './helpers/campaign-sending.ts'
import { scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'

/** A campaign to three contacts, none of whom has a mail yet. */
async function toThree(t: ExecutionContext) {
	const context = await sendingCampaign(t, 3)
	const { id, call, query, request, project } = context
	const idOf = async (email: string) =>
		(await query<{ id: string }>('select id from contacts where email = $1', [email]))[0]!.id
	const addresses = async (): Promise<string[]> =>
		(await call('GET', `/${id}/recipients`))
			.json()
			.data.map(({ email }: { email: string }) => email)
	return {
		...context,
		idOf,
		addresses,
		remains: () => query('select email from removed_contacts'),
		remove: async (email: string, how = '') =>
			t.is((await request('DELETE', `/contacts/${await idOf(email)}${how}`)).statusCode, 204),
		add: (email: string) =>
			query('insert into contacts (project_id, email, subscribed) values ($1, $2, true)', [
				project.id,
				email,
			]),
	}
}

const erased = 'deleted@deleted.invalid'
const [first, second, third] = ['user0@example.net', 'user1@example.net', 'user2@example.net']

test('a recipient who is deleted before their mail was written keeps their address there', async (t) => {
	const { pool, send, remove, addresses, query } = await toThree(t)
	await remove(second)
	t.deepEqual(await addresses(), [first, second, third])
	const { provider, handed } = scriptedProvider()
	t.like(await send(campaignWorker(pool, provider)), { settled: 3, left: 0 })
	t.deepEqual(handed.map(({ to }) => to).toSorted(), [first, third])
	t.deepEqual(await addresses(), [first, third, second])
	t.deepEqual(await query(`select status, error from emails where "to" = $1`, [second]), [
		{ status: 'CANCELLED', error: 'The contact was deleted' },
	])
})

test('contacts that are deleted together keep their addresses in a cancelled campaign', async (t) => {
	const { id, query, act, activities, call, addresses, idOf } = await toThree(t)
	await query('delete from contacts where id = any($1)', [[await idOf(first), await idOf(third)]])
	t.is((await call('POST', `/${id}/cancel`)).statusCode, 200)
	t.deepEqual(await addresses(), [first, second, third])
	await act(activities.cancelRecipients, id)
	t.deepEqual((await addresses()).toSorted(), [first, second, third])
})

test('a person who is erased before their mail was written leaves no address', async (t) => {
	const { pool, send, remove, add, addresses, remains } = await toThree(t)
	await remove(first, '?erase=true')
	// Deleted, back again, and then erased.
	await remove(second)
	await add(second)
	await remove(second, '?erase=true')
	t.deepEqual(await remains(), [])
	t.deepEqual(await addresses(), [erased, erased, third])
	await send(campaignWorker(pool, scriptedProvider().provider))
	t.deepEqual(await addresses(), [third, erased, erased])
})

test('a person who is erased while their mail is being written leaves no address', async (t) => {
	const { id, pool, remove, add, addresses, idOf, project } = await toThree(t)
	await remove(second)
	await add(second)
	const again = await idOf(second)
	const lane = { projectId: project.id, campaignId: id }
	const [bounds] = await campaignLane(pool, { ...lane, lane: 0 })
	// In an object, because the transaction would wait for a promise.
	const { erasing } = await transaction(pool, async (db) => {
		const born = await bearSlice(db, {
			...lane,
			after: bounds!.after,
			until: bounds!.until,
			limit: 10,
			provider: 'test',
			tracked: false,
			batchId: null,
		})
		t.deepEqual(born.map(({ to }) => to).toSorted(), [first, second, third])
		const erasing = inChunk(pool, (other) => eraseContact(other, project.id, again))
		await lockWaits(t, pool, 1)
		return { erasing }
	})
	t.true(await erasing)
	t.deepEqual(await addresses(), [first, third, erased])
})

test('deleted contacts are kept only as long as a campaign has mails to write', async (t) => {
	const { pool, send, remove, remains } = await toThree(t)
	const { remove: tidy } = chores.find(({ what }) => what.startsWith('deleted contacts'))!
	await remove(first)
	t.is(await tidy(pool, 10, 30), 0)
	t.deepEqual(await remains(), [{ email: first }])
	await send(campaignWorker(pool, scriptedProvider().provider))
	t.is(await tidy(pool, 10, 30), 1)
	await remove(second)
	t.deepEqual(await remains(), [])
})
