import type { Activity, Tempost } from '../index.ts'
import { type Command, textOf, UsageError } from './command.ts'
import { type Feed, follow, pageSize, retries, untilStopped } from './following.ts'

const newest = 20
const minuteMs = 60_000
const units: Record<string, number> = { m: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs }

export const logs: Command = {
	usage: '[-f] [options]',
	mostWords: 0,
	summary: 'Show what happened to mails and contacts, oldest first. With -f, as it happens.',
	options: {
		follow: { type: 'boolean', short: 'f' },
		types: { type: 'string' },
		since: { type: 'string' },
	},
	help: {
		follow: 'go on until Ctrl-C',
		types: 'only these: email.sent,email.bounced',
		since: 'how far back to begin: 10m, 2h or 7d',
	},
	async run({ tempost, values, out, signal }) {
		const types = textOf(values, 'types')?.split(',')
		const start = sinceOf(textOf(values, 'since'))
		const show = (activity: Activity) => out.show(activity, () => lineOf(activity))
		if (values['follow']) {
			const feed = activitiesOf(tempost, types, signal)
			return untilStopped(signal, async () => {
				for await (const activity of follow(feed, start, { out, signal })) show(activity)
			})
		}
		const query = { limit: start ? 100 : newest, ...(types && { types }) }
		const period = start && { startDate: start.toISOString() }
		const list = tempost.activity.list({ ...query, ...period }, { signal })
		const found: Activity[] = []
		if (!start) found.push(...(await list).data)
		else for await (const activity of list) found.push(activity)
		for (const activity of found.toReversed()) show(activity)
	},
}

const activitiesOf = (
	tempost: Tempost,
	types: string[] | undefined,
	signal: AbortSignal,
): Feed<Activity> => ({
	list: (since) =>
		tempost.activity.list(
			{ limit: pageSize, startDate: since?.toISOString(), ...(types && { types }) },
			{ signal, retries },
		),
	timeOf: ({ timestamp }) => timestamp,
	// Activities of one mail may share its id.
	keyOf: ({ id, type, timestamp }) => `${id} ${type} ${timestamp}`,
})

function sinceOf(text: string | undefined) {
	if (text === undefined) return undefined
	const [, amount, unit] = /^(\d+)([mhd])$/.exec(text) ?? []
	if (!amount) throw new UsageError('--since is a number and a unit: 10m, 2h or 7d')
	// `Date` and the service refuse times that are too long ago.
	return new Date(Math.max(0, Date.now() - Number(amount) * units[unit!]!))
}

function lineOf({ type, timestamp, contactEmail, metadata }: Activity) {
	const about = ['subject', 'eventName', 'workflowName', 'campaignName', 'error'].map(
		(name) => metadata[name],
	)
	return [timestamp, type.padEnd(20), contactEmail, ...about]
		.filter((part) => typeof part === 'string' && part !== '')
		.join('  ')
}
