import test from 'ava'
import { drillWebhooks } from '../bench/webhooks/webhook-drill.ts'

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}

test('a worker killed again and again loses no delivery', async (t) => {
	t.timeout(280_000)
	const { repeated, ...rest } = await drillWebhooks(servers, 20_000, 8)
	t.log(`${repeated} repeated`)
	t.deepEqual(rest, { lost: 0, unsettled: 0 })
})
