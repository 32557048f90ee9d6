import { randomUUID } from 'node:crypto'
import test from 'ava'
import { until } from '../bench/load.ts'
import { createEngagementLog } from '../db/emails/engagement-log.ts'
import { setup } from './helpers/app.ts'
import { longestStall } from './helpers/stall.ts'

test.serial('many opens and clicks at once are written without a stall', async (t) => {
	const { pool, project } = await setup(t)
	const log = createEngagementLog({ pool, log: { warn: (_, message) => t.log(message) } })
	const count = 20_000
	const written = async () => {
		const { rows } = await pool.query('select count(*)::int as count from engagements')
		return rows[0].count === count
	}
	const link = `https://example.org/${'x'.repeat(500)}`
	const stall = await longestStall(async () => {
		const blocked = await pool.connect()
		await blocked.query('begin; lock table engagements in access exclusive mode')
		for (let n = 0; n < count; n++) {
			if (n % 100 === 0) await new Promise(setImmediate)
			void log.note({
				projectId: project.id,
				emailId: randomUUID(),
				campaignId: null,
				kind: 'CLICK',
				link,
				fetcher: 'PERSON',
				at: new Date(),
			})
		}
		await blocked.query('rollback')
		blocked.release()
		t.true(await until(written, 30_000))
	})
	t.true(stall < 50, `${stall} ms`)
	await log.close()
})
