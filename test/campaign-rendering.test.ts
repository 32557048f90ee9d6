import test from 'ava'
import { sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { setupSmtp } from './helpers/smtp.ts'
import { longestStall } from './helpers/stall.ts'

// Serial, because anything beside a measurement would be part of it.

const loop = '{% for i in (1..9999) %}'
const slow = `${loop.repeat(2)}{% endfor %}{% endfor %}x`

test.serial(
	'a template that keeps taking too long pauses its campaign with that reason',
	async (t) => {
		const { send, get, progress, id, pool, mails } = await sendingCampaign(t, 40, { body: slow })
		const { sink, provider } = await setupSmtp(t)
		const worker = campaignWorker(pool, provider)
		const stall = await longestStall(() => send(worker))
		t.like(await get(id), { status: 'SENDING', pausedReason: 'TEMPLATE' })
		t.like(await progress(id), { waitingFor: { reason: 'paused' } } as object)
		t.true(sink.mails.length < 20, `${sink.mails.length} mails left`)
		t.true((await mails()).every(({ status }) => status === 'SENT' || status === 'PENDING'))
		t.true(stall < 50, `${stall.toFixed(0)} ms`)
	},
)

test.serial('a few slow mails among many quick ones pause nothing', async (t) => {
	const body = `{% if heavy %}${slow}{% endif %}Hello`
	const { send, get, id, pool, query } = await sendingCampaign(t, 100, { body })
	await query(
		`update contacts set data = '{"heavy": true}' where email in ('user1@example.net', 'user2@example.net')`,
	)
	const { sink, provider } = await setupSmtp(t)
	t.like(await send(campaignWorker(pool, provider)), { left: 0 })
	t.is(sink.mails.length, 100)
	t.like(await get(id), { pausedReason: null })
})

test.serial('15,000 links in every mail block the worker only for a moment', async (t) => {
	const body = '<a href="https://example.org/a?b={{ name }}">d</a>\n'.repeat(15_000)
	const { send, pool } = await sendingCampaign(t, 6, { body })
	const { sink, provider } = await setupSmtp(t)
	const worker = campaignWorker(pool, provider)
	const stall = await longestStall(() => send(worker))
	t.is(sink.mails.length, 6)
	t.true(stall < 50, `${stall.toFixed(0)} ms`)
})
