import { setTimeout as sleep } from 'node:timers/promises'
import { client, lanes, until } from './load.ts'
import type { Stack } from './stack.ts'

/** What an independent look at all parties says after a drill. */
export interface Verdict {
	/** Answered with 2xx. */
	accepted: number
	refused: number
	/** Accepted, and neither at the provider nor visibly undelivered. */
	lost: number
	/** Mails that the provider took more than once, beyond the first. */
	repeated: number
	/** Repeats whose row says that it may have been one. */
	repeatedAndMarked: number
	/** Mails that were in doubt at some time. */
	doubted: number
	/** Rows that are not settled. */
	open: number
	/** Contacts or mails of requests that were refused. */
	halfDone: number
	/** From the last answer until the last mail was settled. */
	settledAfterMs: number
}

export interface Drill {
	stack: Stack
	count: number
	/** How often the provider took each mail. */
	taken(): Promise<Map<string, number>>
	/** Runs beside the sends; ends by itself. */
	harm(progress: () => number): Promise<void>
	/** Requests a second at most: a drill is about what happens meanwhile. */
	perSecond?: number
	patienceMs?: number
}

const connections = 8

/** Sends while harm is done, waits until all is settled, and compares the answers with all parties. */
export async function drill({ stack, count, taken, harm, ...pace }: Drill): Promise<Verdict> {
	const http = client(stack.apiUrl, stack.secretKey, connections)
	const accepted = new Set<string>()
	const refused: string[] = []
	let asked = 0
	const startedAt = Date.now()
	const harming = harm(() => asked / count)
	await lanes(
		connections,
		() => asked < count,
		async () => {
			const to = `drill-${asked++}@example.org`
			const answer = await http.post('/v1/send', {
				to,
				from: 'drill@example.com',
				subject: 'Drill',
				body: '<p>One mail, once.</p>',
			})
			if (answer.status === 200) accepted.add(JSON.parse(answer.body).data.emails[0].email)
			else refused.push(to)
			const due = startedAt + (asked / (pace.perSecond ?? 1e6)) * 1000
			if (due > Date.now()) await sleep(due - Date.now())
		},
	)
	await harming
	http.close()
	const lastAnswerAt = Date.now()
	await until(async () => (await openMails(stack)) === 0, pace.patienceMs ?? 120_000, 100)
	const settledAfterMs = Date.now() - lastAnswerAt
	return { ...(await judge(stack, accepted, refused, await taken())), settledAfterMs }
}

async function judge(
	stack: Stack,
	accepted: Set<string>,
	refused: string[],
	taken: Map<string, number>,
) {
	const em = stack.orm.em.fork()
	const rows = await em.execute<Row[]>(
		`select e.id, e.status, e."to", e.possible_repeat,
			exists (select from attempts a where a.email_id = e.id and a.project_id = e.project_id
				and a.outcome = 'UNKNOWN') as doubted
		from emails e`,
	)
	const settled = new Set(['SENT', 'FAILED', 'SUPPRESSED', 'CANCELLED'])
	const byId = new Map(rows.map((row) => [row.id, row]))
	const repeats = [...taken].filter(([, times]) => times > 1)
	const extra = (list: [string, number][]) => list.reduce((sum, [, times]) => sum + times - 1, 0)
	const contacts = await em.execute<{ email: string }[]>(
		`select email from contacts c where not exists (
			select from emails e where e.project_id = c.project_id and e.contact_id = c.id)`,
	)
	return {
		accepted: accepted.size,
		refused: refused.length,
		lost: [...accepted].filter((id) => {
			const row = byId.get(id)
			return !row || (row.status === 'SENT' && !taken.has(id)) || !settled.has(row.status)
		}).length,
		repeated: extra(repeats),
		repeatedAndMarked: extra(repeats.filter(([id]) => byId.get(id)?.possible_repeat)),
		doubted: rows.filter((row) => row.doubted).length,
		open: rows.filter((row) => !settled.has(row.status)).length,
		halfDone: contacts.length,
	}
}

interface Row {
	id: string
	status: string
	to: string
	possible_repeat: boolean
	doubted: boolean
}

async function openMails({ orm }: Stack) {
	const [row] = await orm.em
		.fork()
		.execute<{ n: number }[]>(
			`select count(*)::int as n from emails where status in ('PENDING', 'SENDING', 'UNCERTAIN')`,
		)
	return row!.n
}

/** Kills the worker again and again at random moments, and starts it again. */
export const killWorker =
	(stack: Stack, times: number, everyMs: [least: number, most: number]) => async () => {
		for (let i = 0; i < times; i++) {
			await sleep(everyMs[0] + Math.random() * (everyMs[1] - everyMs[0]))
			await stack.worker.stop('SIGKILL')
			await stack.worker.start()
		}
	}

/** How often each mail is in a provider's list. */
export function tally(ids: Iterable<string | null>) {
	const taken = new Map<string, number>()
	for (const id of ids) if (id) taken.set(id, (taken.get(id) ?? 0) + 1)
	return taken
}
