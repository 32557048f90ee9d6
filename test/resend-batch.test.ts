import test, { type ExecutionContext } from 'ava'
import { resendProvider } from '../outside/providers/resend.ts'
import { aMessage } from './helpers/message.ts'
import { resendFake, type ResendFault } from './helpers/resend-fake.ts'

async function setup(t: ExecutionContext, faults: ResendFault[] = []) {
	const fake = await resendFake()
	fake.faults.push(...faults)
	const provider = resendProvider({ apiKey: fake.apiKey, baseUrl: fake.url })
	t.teardown(async () => {
		await provider.close()
		await fake.close()
	})
	return { fake, deliverBatch: provider.deliverBatch!, deliver: provider.deliver }
}

const some = (count: number) => Array.from({ length: count }, () => aMessage())
const kinds = (outcomes: { kind: string }[]) => outcomes.map(({ kind }) => kind)

test('a batch is one request, and each mail learns its id', async (t) => {
	const { fake, deliverBatch } = await setup(t)
	const messages = some(3)
	const outcomes = await deliverBatch(messages, 'page-1')
	t.is(fake.requests.length, 1)
	t.deepEqual(
		fake.accepted.map(({ emailId }) => emailId),
		messages.map(({ emailId }) => emailId),
	)
	t.deepEqual(
		outcomes,
		fake.accepted.map(({ id }) => ({ kind: 'SENT', providerMessageId: id })),
	)
})

test('an unusable mail in a batch is rejected alone, the others keep their own ids', async (t) => {
	const { fake, deliverBatch } = await setup(t)
	const bad = aMessage({ recipient: 'not an address' })
	const outcomes = await deliverBatch([...some(1), bad, ...some(1)], 'page-1')
	t.deepEqual(kinds(outcomes), ['SENT', 'REJECTED', 'SENT'])
	t.like(outcomes[2], { providerMessageId: fake.accepted[1]!.id })
})

test('a batch of any size is cut into pieces that Resend takes', async (t) => {
	const { fake, deliverBatch } = await setup(t)
	const messages = some(230)
	const outcomes = await deliverBatch(messages, 'page-1')
	t.true(kinds(outcomes).every((kind) => kind === 'SENT'))
	t.is(fake.requests.length, 3)
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 230)
})

test('a batch repeated with its key after a lost answer is sent once', async (t) => {
	const { fake, deliverBatch } = await setup(t, [{ drop: true, take: true, times: 1 }])
	const messages = some(150)
	const first = await deliverBatch(messages, 'page-1')
	t.deepEqual(new Set(kinds(first.slice(0, 100))), new Set(['UNKNOWN']))
	t.deepEqual(new Set(kinds(await deliverBatch(messages, 'page-1'))), new Set(['SENT']))
	t.is(fake.accepted.length, 150)
})

test('mails with attachments leave a batch and go one by one with their own keys', async (t) => {
	const { fake, deliverBatch } = await setup(t)
	const file = { filename: 'a.txt', content: Buffer.from('a'), contentType: 'text/plain' }
	const attachments = [{ ...file, contentId: null, disposition: 'attachment' as const }]
	const heavy = aMessage({ attachments })
	const outcomes = await deliverBatch([heavy, ...some(2)], 'page-1')
	t.deepEqual(kinds(outcomes), ['SENT', 'SENT', 'SENT'])
	t.is(fake.accepted.find(({ emailId }) => emailId === heavy.emailId)!.key, heavy.emailId)
	t.is(fake.requests.length, 2)
})

test('a batch that meets the rate limit pauses whole', async (t) => {
	const limit = { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '2' } }
	const { fake, deliverBatch } = await setup(t, [limit])
	const outcomes = await deliverBatch(some(2), 'page-1')
	for (const outcome of outcomes) t.like(outcome, { kind: 'UNAVAILABLE', retryAfterMs: 2000 })
	t.is(fake.accepted.length, 0)
})

test('while Resend asks for a long wait, batches that wait for their turn are not sent', async (t) => {
	const limit = { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '4' } }
	const { fake, deliverBatch } = await setup(t, [limit])
	const beganAt = performance.now()
	// Its answer is there before the turn of the others.
	const refused = await deliverBatch(some(2), 'page-1')
	const keys = ['page-2', 'page-3', 'page-4']
	const others = await Promise.all(keys.map((key) => deliverBatch(some(2), key)))
	for (const outcome of [...refused, ...others.flat()]) {
		t.like(outcome, { kind: 'UNAVAILABLE' })
		const waitMs = 'retryAfterMs' in outcome ? outcome.retryAfterMs! : 0
		t.true(waitMs > 4000 - (performance.now() - beganAt) && waitMs <= 4000, `${waitMs}`)
	}
	t.is(fake.requests.length, 1)
})

test('an answer that does not cover every mail leaves a batch unknown', async (t) => {
	const { deliverBatch } = await setup(t, [{ status: 200, html: '{"data":[{"id":"1"}]}' }])
	t.deepEqual(kinds(await deliverBatch(some(2), 'page-1')), ['UNKNOWN', 'UNKNOWN'])
})
