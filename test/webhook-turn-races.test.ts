import test from 'ava'
import { holdDeliveries, queueBehindEarlier } from '../db/webhooks/webhook-turns.ts'
import { lockWaits } from './helpers/locks.ts'
import { answering } from './helpers/webhook-receiver.ts'
import { setupWebhooks } from './helpers/webhooks.ts'

for (const act of ['queued', 'held'] as const)
	test(`a delivery whose success is being recorded is not ${act} by another turn`, async (t) => {
		const { endpoint, pool, project, turn, receiver } = await setupWebhooks(t)
		const { id } = await endpoint(['email.*'], { ordering: 'email' })
		await pool.query(
			`with mail as (
				insert into emails (project_id, "to", "from", subject, source_type)
				values ($1, 'ann@example.org', 'hello@example.com', 'Hi', 'TRANSACTIONAL') returning id
			)
			insert into events (project_id, name, email_id)
			select $1, name, id from mail, unnest('{email.sent,email.delivery}'::text[]) name`,
			[project.id],
		)
		receiver.answer = answering(500)
		await turn(id)
		const { rows } = await pool.query<{ id: string }>(
			`update webhook_deliveries set next_at = now() - case tries when 0 then '2 s' else '1 s' end::interval
			where status = 'PENDING' returning id, tries`,
		)
		t.is(rows.length, 2)
		if (act === 'held') await pool.query(`update webhook_endpoints set disabled_reason = 'FAILING'`)
		const other = await pool.connect()
		await other.query(
			`begin; update webhook_deliveries set status = 'DELIVERED', next_at = null where tries = 0`,
		)
		const given = { projectId: project.id, endpointId: id, limit: 10 }
		const acting = act === 'queued' ? queueBehindEarlier(pool, given) : holdDeliveries(pool, given)
		await lockWaits(t, pool, 1)
		await other.query('commit')
		other.release()
		await acting
		const { rows: after } = await pool.query(
			'select status, next_at from webhook_deliveries where tries = 0',
		)
		t.deepEqual(after, [{ status: 'DELIVERED', next_at: null }])
	})
