import { setTimeout as sleep } from 'node:timers/promises'
import { resendFake, type ResendFault } from '../../test/helpers/resend-fake.ts'
import type { Fault } from '../../test/helpers/smtp-sink.ts'
import { startSink } from '../sink.ts'
import type { ProviderFault } from './fault-plan.ts'

export interface Taken {
	emailId: string | null
	to: string
}

/** The provider in a drill, and its faults. */
export interface DrillProvider {
	env: Record<string, string>
	/** Whether a mail in doubt may be handed over again. */
	isIdempotent: boolean
	/** Every accepted mail, as often as it was accepted, without the first `after`. */
	mails(after?: number): Promise<Taken[]>
	strike(fault: ProviderFault, forMs: number): Promise<void>
	close(): Promise<void>
}

/** Addresses that contain this don't exist. */
export const nobody = 'nobody'

const unknown: Fault = { at: 'rcpt', recipient: nobody, reply: '550 5.1.1 User unknown' }
const smtpFaults: Record<Exclude<ProviderFault, 'refuses connections'>, Fault[]> = {
	'falls silent': [
		{ at: 'data', hang: true },
		{ at: 'dot', hang: true, take: true },
	],
	defers: [{ at: 'rcpt', reply: '450 4.2.1 Greylisted, retry after 2 seconds' }],
	rejects: [{ at: 'dot', reply: '554 5.7.1 Looks like spam' }],
	throttles: [{ at: 'mail', reply: '421 4.7.0 Slow down, try again in 2 seconds' }],
	'hangs up before the dot': [{ at: 'content', drop: true }],
	'hangs up at the dot': [{ at: 'dot', drop: true }],
	'takes and hangs up': [{ at: 'dot', drop: true, take: true }],
	'hangs up after the answer': [{ at: 'done', drop: true }],
	'answers late': [{ at: 'dot', delayMs: 1500 }],
}

export async function smtpProvider(): Promise<DrillProvider> {
	const sink = await startSink(['--delay', '5'])
	await sink.faults([unknown])
	return {
		env: { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url },
		isIdempotent: false,
		mails: (after) => sink.mails(after),
		async strike(fault, forMs) {
			if (fault === 'refuses connections') await sink.stop()
			else await sink.faults([unknown, ...smtpFaults[fault]])
			await sleep(forMs)
			await sink.faults([unknown])
			// Requests that wait for an answer get none.
			if (fault === 'falls silent') await sink.stop()
			if (fault === 'falls silent' || fault === 'refuses connections') await sink.start()
		},
		close: () => sink.close(),
	}
}

const resendFaults: Record<Exclude<ProviderFault, 'answers late'>, ResendFault> = {
	'refuses connections': { drop: true },
	'falls silent': { hang: true, take: true },
	defers: { status: 503, name: 'service_unavailable', message: 'Not now' },
	rejects: { status: 422, name: 'validation_error', message: 'Looks like spam' },
	throttles: {
		status: 429,
		name: 'rate_limit_exceeded',
		message: 'Too many requests',
		headers: { 'retry-after': '2' },
	},
	'hangs up before the dot': { drop: true },
	'hangs up at the dot': { status: 500, name: 'application_error', message: 'Oops' },
	'takes and hangs up': { drop: true, take: true },
	'hangs up after the answer': { status: 502, html: '<h1>Bad gateway</h1>', take: true },
}

export async function resendProvider(): Promise<DrillProvider> {
	const fake = await resendFake({ delayMs: 5 })
	return {
		env: { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: fake.apiKey, RESEND_BASE_URL: fake.url },
		isIdempotent: true,
		mails: async (after = 0) =>
			fake.accepted
				.slice(after)
				.map(({ emailId, mail }) => ({ emailId, to: [mail.to].flat()[0]! })),
		async strike(fault, forMs) {
			if (fault === 'answers late') fake.delayMs = 1500
			else fake.faults.push(resendFaults[fault])
			await sleep(forMs)
			fake.faults.length = 0
			fake.delayMs = 5
			if (fault === 'falls silent') fake.hangUp()
		},
		close: () => fake.close(),
	}
}
