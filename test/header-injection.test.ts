import { randomInt } from 'node:crypto'
import test from 'ava'
import PostalMime from 'postal-mime'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import type { Message } from '../mail/message.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { mailsOfClaim } from '../db/emails/ledger.ts'
import { hostileTexts, pick, type Random, numbersFrom } from './helpers/hostile.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { setupSend } from './helpers/send.ts'

const rounds = 150
/** The headers of every mail of ours; the requests add headers that start with X-Given. */
const known = new Set([
	'from',
	'to',
	'reply-to',
	'subject',
	'date',
	'message-id',
	'x-tempost-id',
	'mime-version',
	'content-type',
	'list-unsubscribe',
	'list-unsubscribe-post',
])
const breaks = [
	'\r\n',
	'\n',
	'\r',
	'\u2028',
	'\u0085',
	'\v',
	'\0',
	'=0D=0A',
	'%0d%0a',
	'=?utf-8?q?=0D=0A?=',
]

/** Text that tries to start a header of its own. */
function injection(next: Random) {
	const text = pick(next, [...hostileTexts, 'Ann', 'Ünn'])
	return next(3) === 0
		? text
		: `${text}${pick(next, breaks)}Bcc: victim@example.org${pick(next, breaks)}X-Evil: 1`
}

test('every accepted mail can be built, and has no injected header', async (t) => {
	const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
	t.log(`FUZZ_SEED=${seed}`)
	const next = numbersFrom(seed)
	const { send, pool } = await setupSend(t)
	const maybe = (member: object) => (next(3) === 0 ? member : {})
	let [accepted, refused] = [0, 0]
	for (let round = 0; round < rounds; round++) {
		const answer = await send({
			to: { email: 'ann@example.org', ...maybe({ name: injection(next) }) },
			subject: next(2) === 0 ? 'About {{ word }}' : injection(next),
			data: { word: { value: injection(next), persistent: false } },
			...maybe({ from: { email: 'me@example.com', name: injection(next) } }),
			...maybe({ reply: next(2) === 0 ? `a@example.org${injection(next)}` : 'b@example.org' }),
			...maybe({
				headers: { [next(4) === 0 ? `X-Given${injection(next)}` : 'X-Given']: injection(next) },
			}),
			...maybe({
				attachments: [
					{
						filename: `a${injection(next)}`,
						content: 'YQ==',
						contentType: next(2) === 0 ? 'text/plain' : `text/plain; name="${injection(next)}"`,
						...maybe({ contentId: injection(next) }),
					},
				],
			}),
		})
		t.true([200, 422].includes(answer.statusCode), answer.body)
		if (answer.statusCode === 200) accepted++
		else refused++
	}
	t.true(accepted > 20 && refused > 20, `${accepted} accepted, ${refused} refused`)

	const messages: Message[] = []
	const { provider } = scriptedProvider((message) => void messages.push(message))
	const { services } = deliveryServices(pool, provider, {})
	for (const row of await claim(pool))
		await deliverMails(services, () =>
			mailsOfClaim(pool, { claimId: claimOf(row), provider: 'local' }),
		)
	t.is(messages.length, accepted)
	for (const message of messages) {
		const raw = buildMime(message)
		const mail = await PostalMime.parse(raw)
		t.deepEqual(
			mail.headers
				.map(({ key }) => key)
				.filter((key) => !known.has(key) && !key.startsWith('x-given')),
			[],
			raw.toString(),
		)
		t.deepEqual(
			mail.to?.map(({ address }) => address),
			['ann@example.org'],
		)
		t.is(mail.from?.address, message.from.email)
		t.is(mail.bcc, undefined)
		t.is(mail.cc, undefined)
		t.true(mail.attachments.length === message.attachments.length)
	}
})
