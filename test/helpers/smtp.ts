import type { ExecutionContext } from 'ava'
import { smtpProvider, type SmtpOptions } from '../../outside/providers/smtp.ts'
import { aMessage } from './message.ts'
import { smtpSink, type Fault, type SinkOptions } from './smtp-sink.ts'

export interface SmtpSetup extends Partial<SmtpOptions> {
	sink?: SinkOptions
	faults?: Fault[]
}

const patience = { connectMs: 10_000, envelopeMs: 10_000, answerMs: 10_000 }

/**
 * Short where a test waits for the fault to time out, long elsewhere, because a busy machine is no fault.
 */
function patienceFor(faults: Fault[]) {
	const at = faults.find((fault) => fault.hang)?.at
	if (!at) return patience
	if (at === 'connect' || at === 'ehlo' || at === 'auth') return { ...patience, connectMs: 300 }
	if (at === 'content' || at === 'dot') return { ...patience, answerMs: 1000 }
	return { ...patience, envelopeMs: 300 }
}

/** A sink, and a provider connected to it. */
export async function setupSmtp(t: ExecutionContext, options: SmtpSetup = {}) {
	const { sink: sinkOptions, faults = [], ...own } = options
	const sink = await smtpSink(sinkOptions)
	sink.faults.push(...faults)
	const provider = smtpProvider({ url: sink.url, timeouts: patienceFor(faults), ...own })
	t.teardown(async () => {
		await provider.close()
		await sink.close()
	})
	const deliver = (recipient = 'ada@example.org') => provider.deliver(aMessage({ recipient }))
	return { sink, provider, deliver }
}
