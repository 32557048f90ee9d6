// One usage report in a process of its own, which a test kills.
import { MikroORM } from '@mikro-orm/postgresql'
import { MockActivityEnvironment } from '@temporalio/testing'
import { billingActivities } from '../../activities/billing/billing.ts'
import { createStripe } from '../../outside/stripe/client.ts'
import config from '../../db/config.ts'
import { poolOf } from '../../db/statement.ts'

const orm = await MikroORM.init(config)
const { STRIPE_SECRET_KEY, STRIPE_API_BASE } = process.env
const stripe = await createStripe({
	secretKey: STRIPE_SECRET_KEY!,
	priceId: 'price_1',
	base: STRIPE_API_BASE!,
})
const { reportUsage } = billingActivities({ pool: await poolOf(orm.em), stripe })
await new MockActivityEnvironment().run(reportUsage)
await orm.close()
