import type { Outcome } from '../../outside/providers/provider.ts'
import type { Fault } from './smtp-sink.ts'

interface Row {
	name: string
	fault: Fault
	expected: Partial<Outcome>
	/** How often the sink has accepted the mail in the end. */
	taken?: number
}

export const unavailable = { kind: 'UNAVAILABLE' } as const
const deferred = { kind: 'DEFERRED' } as const
const bounced = { kind: 'REJECTED', bounce: true } as const
export const rejected = { kind: 'REJECTED', bounce: false } as const
const unknown = { kind: 'UNKNOWN' } as const

/** All faults, and what the ledger must record for each. */
export const faultRows: Row[] = [
	{
		name: 'a 421 greeting is unavailable',
		fault: { at: 'connect', reply: '421 4.3.2 Not now' },
		expected: unavailable,
	},
	{
		name: 'a 554 greeting is unavailable',
		fault: { at: 'connect', reply: '554 5.3.2 No service here' },
		expected: unavailable,
	},
	{
		name: 'a server that hangs up instead of greeting is unavailable',
		fault: { at: 'connect', drop: true },
		expected: unavailable,
	},
	{
		name: 'a server that never greets is unavailable',
		fault: { at: 'connect', hang: true },
		expected: unavailable,
	},
	{
		name: 'a server that never answers EHLO is unavailable',
		fault: { at: 'ehlo', hang: true },
		expected: unavailable,
	},
	{
		name: 'a connection lost at EHLO is unavailable',
		fault: { at: 'ehlo', drop: true },
		expected: unavailable,
	},
	{
		name: 'EHLO and HELO refused is unavailable',
		fault: { at: 'ehlo', reply: '550 5.7.1 Who are you' },
		expected: unavailable,
	},
	{
		name: 'a 421 to MAIL is unavailable',
		fault: { at: 'mail', reply: '421 4.7.0 Slow down' },
		expected: unavailable,
	},
	{
		name: 'a 451 to MAIL is unavailable: it is about us, so about every mail',
		fault: { at: 'mail', reply: '451 4.7.1 Rate exceeded, try again in 5 minutes' },
		expected: { ...unavailable, retryAfterMs: 300_000 },
	},
	{
		name: 'a 450 to MAIL that names the sender defers this mail only',
		fault: { at: 'mail', reply: '450 4.1.8 Sender address rejected: domain not found' },
		expected: deferred,
	},
	{
		name: 'a 530 to MAIL is unavailable: the login is missing',
		fault: { at: 'mail', reply: '530 5.7.0 Authentication required' },
		expected: unavailable,
	},
	{
		name: 'a 5xx to MAIL rejects and is no bounce, even with an address code',
		fault: { at: 'mail', reply: '550 5.1.0 Sender rejected' },
		expected: rejected,
	},
	{
		name: 'silence after MAIL is unavailable',
		fault: { at: 'mail', hang: true },
		expected: unavailable,
	},
	{
		name: 'a connection lost at MAIL is unavailable',
		fault: { at: 'mail', drop: true },
		expected: unavailable,
	},
	{
		name: 'a 4xx to RCPT defers this mail only',
		fault: { at: 'rcpt', reply: '450 4.2.1 Greylisted, retry after 60 seconds' },
		expected: { ...deferred, retryAfterMs: 60_000 },
	},
	{
		name: 'a 421 to RCPT is unavailable',
		fault: { at: 'rcpt', reply: '421 4.7.0 Slow down, try again in 2 h' },
		expected: { ...unavailable, retryAfterMs: 7_200_000 },
	},
	{
		name: 'an unknown mailbox is a bounce',
		fault: { at: 'rcpt', reply: '550 5.1.1 User unknown' },
		expected: { ...bounced, error: 'Recipient refused: 550 5.1.1 User unknown' },
	},
	{
		name: 'a bare 550 to RCPT is a bounce',
		fault: { at: 'rcpt', reply: '550 No such user here' },
		expected: bounced,
	},
	{
		name: 'a disabled mailbox is a bounce',
		fault: { at: 'rcpt', reply: '550-5.2.1 The account is\r\n550 5.2.1 disabled' },
		expected: bounced,
	},
	{
		name: 'a 553 to RCPT is a bounce',
		fault: { at: 'rcpt', reply: '553 Not a mailbox' },
		expected: bounced,
	},
	{
		name: 'a policy refusal at RCPT is no bounce',
		fault: { at: 'rcpt', reply: '550 5.7.1 Relay access denied' },
		expected: rejected,
	},
	{
		name: 'a bare 550 that speaks of blocking is no bounce',
		fault: { at: 'rcpt', reply: '550 Your host is blocked' },
		expected: rejected,
	},
	{
		name: 'a full mailbox is no bounce',
		fault: { at: 'rcpt', reply: '552 5.2.2 Mailbox full' },
		expected: rejected,
	},
	{
		name: 'a refused sender address at RCPT is no bounce',
		fault: { at: 'rcpt', reply: '550 5.1.8 Sender domain unknown' },
		expected: rejected,
	},
	{
		name: 'a torn line instead of an answer to MAIL is unavailable',
		fault: { at: 'mail', torn: '550 5.7' },
		expected: unavailable,
	},
	{
		name: 'silence after RCPT is unavailable',
		fault: { at: 'rcpt', hang: true },
		expected: unavailable,
	},
	{
		name: 'a connection lost at RCPT is unavailable',
		fault: { at: 'rcpt', drop: true },
		expected: unavailable,
	},
	{
		name: 'a 4xx to DATA defers this mail only',
		fault: { at: 'data', reply: '451 4.3.0 Queue trouble' },
		expected: deferred,
	},
	{
		name: 'a 5xx to DATA rejects and is no bounce',
		fault: { at: 'data', reply: '554 5.5.1 No' },
		expected: rejected,
	},
	{
		name: 'a 421 to DATA is unavailable',
		fault: { at: 'data', reply: '421 4.3.2 Going down' },
		expected: unavailable,
	},
	{
		name: 'silence after DATA is unavailable: nothing of the mail has left',
		fault: { at: 'data', hang: true },
		expected: unavailable,
	},
	{
		name: 'a connection lost before the 354 is unavailable',
		fault: { at: 'data', drop: true },
		expected: unavailable,
	},
	{
		name: 'a connection lost while a small mail is under way leaves it unknown',
		fault: { at: 'content', drop: true },
		expected: unknown,
	},
	{
		name: 'a connection lost before the answer to the dot leaves the mail unknown',
		fault: { at: 'dot', drop: true },
		expected: unknown,
	},
	{
		name: 'a mail taken without an answer is unknown',
		fault: { at: 'dot', drop: true, take: true },
		expected: unknown,
		taken: 1,
	},
	{
		name: 'silence after the dot leaves the mail unknown',
		fault: { at: 'dot', hang: true, take: true },
		expected: unknown,
		taken: 1,
	},
	{
		name: 'a torn line instead of an answer to the dot leaves the mail unknown',
		fault: { at: 'dot', torn: '550 5.7', take: true },
		expected: unknown,
		taken: 1,
	},
	{
		name: 'a 4xx after the dot defers: the server has not taken it',
		fault: { at: 'dot', reply: '452 4.3.1 No space' },
		expected: deferred,
	},
	{
		name: 'a 421 after the dot is unavailable: not taken, and the server goes',
		fault: { at: 'dot', reply: '421 4.3.2 Going down' },
		expected: unavailable,
	},
	{
		name: 'a 5xx after the dot rejects and is no bounce',
		fault: { at: 'dot', reply: '554 5.7.1 Looks like spam' },
		expected: rejected,
	},
	{
		name: 'a 5xx after the dot that names the address is a bounce',
		fault: { at: 'dot', reply: '550 5.1.1 User unknown' },
		expected: bounced,
	},
	{
		name: 'a connection lost after the 250 is a sent mail',
		fault: { at: 'done', drop: true },
		expected: { kind: 'SENT' },
		taken: 1,
	},
]
