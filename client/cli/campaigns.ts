import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, exitCodes, wordOf } from './command.ts'
import { patiently, retries } from './following.ts'
import { rows } from './output.ts'

const pauseMs = 1000

export const campaignsWatch: Command = {
	usage: 'ID',
	mostWords: 1,
	summary: 'Follow a campaign until it has been sent or cancelled.',
	options: {},
	help: {},
	async run(context) {
		const { tempost, out, signal } = context
		const id = wordOf(context, 'The id of a campaign')
		const look = async () => {
			const options = { signal, retries }
			// In this order, so that the last figures are those of the end.
			const { status } = await tempost.campaigns.get(id, options)
			return { status, progress: await tempost.campaigns.progress(id, options) }
		}
		for (let shown = ''; ;) {
			const { status, progress } = shown ? await patiently(context, look) : await look()
			const { total, sent, failed, skipped, waitingFor } = progress
			const reason = waitingFor && (waitingFor.message ?? waitingFor.reason)
			const done = total > 0 ? (sent + failed + skipped) / total : 0
			const isOver = status === 'SENT' || status === 'CANCELLED'
			out.progress(
				isOver ? 1 : Math.min(done, 0.99),
				`${sent} of ${total} sent${reason ? `, waits: ${reason}` : ''}`,
			)
			const text = JSON.stringify({ status, ...progress })
			// For programs one line for each change, for people the last.
			if (out.isJson ? text !== shown : isOver)
				out.show({ id, status, ...progress }, () =>
					rows({ status, ...progress, waitingFor: reason }),
				)
			shown = text
			if (isOver) return status === 'SENT' ? exitCodes.done : exitCodes.failed
			await sleep(pauseMs, undefined, { signal })
		}
	},
}
