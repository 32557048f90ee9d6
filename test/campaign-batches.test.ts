import test from 'ava'
import { handBatch } from '../activities/campaigns/campaign-batches.ts'
import type { Turn } from '../activities/campaigns/campaign-turn.ts'
import type { ClaimedMail } from '../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../db/emails/ledger.ts'
import type { Message } from '../mail/message.ts'
import { ThreadLost } from '../mail/threads/pool.ts'
import type { Outcome } from '../outside/providers/provider.ts'
import { aMessage } from './helpers/message.ts'

const mails = ['a', 'b', 'c'].map((name) => ({
	id: name,
	status: 'SENDING',
	attempt: 1,
	contact_id: name,
	email: `${name}@example.org`,
	to: `${name}@example.org`,
	data: {},
	tried_for_ms: 0,
	created_at: new Date(),
})) as unknown as ClaimedMail[]

/** A turn whose second mail can't be composed, and the order of what happens. */
function setup(fault: Error) {
	const steps: string[] = []
	const statusOf = ({ end }: Ended) => `${end.id} ${end.status}`
	const turn = {
		services: {
			provider: {
				idempotent: true,
				async deliverBatch(messages: Message[]): Promise<Outcome[]> {
					steps.push(`hands over ${messages.length}`)
					return messages.map(() => ({ kind: 'SENT', providerMessageId: 'x' }))
				},
			},
			settings: { patienceMs: 60_000 },
			pause: { available() {}, unavailable() {} },
			stopping: new AbortController().signal,
		},
		campaign: { subject: 'Hi' },
		lane: { projectId: 'p' },
		settled: 0,
		shared: {
			async record(_: string, ended: Ended[]) {
				steps.push(`records ${ended.map(statusOf).join()}`)
			},
		},
		texts: {
			async message({ email }: { email: string }) {
				if (email.startsWith('b')) throw fault
				return { message: aMessage({ recipient: email }), subject: 'Hi', fault: null }
			},
		},
	}
	return { turn: turn as unknown as Turn, steps, statusOf }
}

test('a mail that can’t be composed leaves its batch before the others are handed over', async (t) => {
	const { turn, steps, statusOf } = setup(new ThreadLost('out of memory'))
	const ended = await handBatch(turn, mails, 'key', false)
	t.deepEqual(steps, ['records b PENDING', 'hands over 2'])
	t.deepEqual(ended.map(statusOf), ['a SENT', 'c SENT'])
	t.is(turn.settled, 0)
	const unusable = setup(new Error('no such filter'))
	await handBatch(unusable.turn, mails, 'key', false)
	t.deepEqual(unusable.steps, ['records b FAILED', 'hands over 2'])
	t.is(unusable.turn.settled, 1)
})

test('a batch that may have been taken is not repeated without a mail that can’t be composed now', async (t) => {
	const { turn, steps } = setup(new ThreadLost('out of memory'))
	t.deepEqual(await handBatch(turn, mails, 'key', true), [])
	t.deepEqual(steps, [])
})
