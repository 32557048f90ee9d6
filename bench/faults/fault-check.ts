import pg from 'pg'
import { tally } from '../drill.ts'
import { checkCounters } from './fault-counters.ts'
import { mailsOfJourney, visitsOfJourney } from './fault-journey.ts'
import type { Load } from './fault-load.ts'
import { nobody } from './fault-provider.ts'
import type { Harm } from './fault-strikes.ts'
import type { World } from './fault-world.ts'

const kinds = ['lost', 'repeated', 'stuck', 'miscounted', 'refused'] as const
export type Kind = (typeof kinds)[number]
export type Find = (kind: Kind, what: string) => void

/** The result of an independent check of all parties after a drill. */
export interface Verdict extends Record<Kind, number> {
	/** Requests to send that were answered with 2xx. */
	accepted: number
	mails: number
	/** Mails that the provider accepted more than once and whose row marks a possible repeat. */
	repeatedAndMarked: number
	/** Mails in doubt that are marked as such. */
	uncertain: number
	settledAfterMs: number
	/** The faults, in words. */
	findings: string[]
}

interface Mail {
	id: string
	to: string
	status: string
	source: string
	campaign: string | null
	possible_repeat: boolean
	/** Attempts with an unknown outcome. */
	unknown: number
	/** Accepted attempts that have a row; a successful first attempt may have none. */
	known: number
	sent_events: number
}

const beyondSent = new Set(['SENT', 'DELIVERED', 'OPENED', 'CLICKED'])
const unsent = new Set(['FAILED', 'BOUNCED', 'SUPPRESSED', 'CANCELLED'])

/**
 * Compares the API's answers, the provider's mails, the ledger, the events and the API's counters. Its
 * queries are its own: it shares none with the code under test.
 */
export async function check(
	world: World,
	load: Load,
	harms: Harm[],
	stuck: string[],
	settledAfterMs: number,
) {
	const { stack, provider, databaseUrl } = world
	const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
	const findings: string[] = []
	const find: Find = (kind, what) => {
		counts[kind] += 1
		findings.push(`${kind}: ${what}`)
	}
	const db = new pg.Client({ connectionString: databaseUrl })
	await db.connect()
	try {
		const { rows: mails } = await db.query<Mail>(
			`select e.id, e."to", e.status, source_of_mail(e.source_type) as source, e.campaign_id as campaign,
				e.possible_repeat, coalesce(a.unknown, 0)::int as unknown,
				coalesce(a.known, 0)::int as known, coalesce(v.sent, 0)::int as sent_events
			from emails e
			left join (select email_id, count(*) filter (where outcome = 'UNKNOWN') as unknown,
				count(*) filter (where outcome = 'SENT') as known from attempts group by email_id) a on a.email_id = e.id
			left join (select email_id, count(*) as sent from (
					select email_id from events where name = 'email.sent'
					union all
					select id from emails where is_sent_event) told
				group by email_id) v on v.email_id = e.id`,
		)
		// Read after the ledger: a mail that is sent there has been accepted by now.
		const taken = await provider.mails()
		const byId = new Map(mails.map((mail) => [mail.id, mail]))
		const times = tally(taken.map(({ emailId }) => emailId))
		for (const { emailId, to } of taken) {
			const row = byId.get(emailId ?? '')
			if (!row)
				find('miscounted', `the provider took a mail to ${to} that the ledger does not know`)
			else if (!to.includes(row.to)) find('miscounted', `mail ${row.id} went to ${to}`)
		}
		let repeatedAndMarked = 0
		for (const mail of mails) {
			const often = times.get(mail.id) ?? 0
			const name = `${mail.source} mail ${mail.id} to ${mail.to}`
			if (beyondSent.has(mail.status) && often === 0) find('lost', `${name} is ${mail.status}`)
			if (unsent.has(mail.status) && often > 0 && mail.unknown === 0)
				find('miscounted', `${name} is ${mail.status}, but was taken`)
			// No mail is repeated more often than it was in doubt. Its doubt may be settled by now.
			if (often > 1 && mail.possible_repeat && often <= mail.unknown + Math.max(1, mail.known))
				repeatedAndMarked += often - 1
			else if (often > 1) find('repeated', `${name} was taken ${often} times`)
			const isSent = beyondSent.has(mail.status)
			if (mail.sent_events !== (isSent ? 1 : 0))
				find('miscounted', `${name} is ${mail.status} with ${mail.sent_events} email.sent`)
			if (mail.status === 'UNCERTAIN' && provider.isIdempotent)
				find('stuck', `${name} is UNCERTAIN, though the provider could be asked`)
		}
		checkSends(load, mails, provider.isIdempotent, find)
		await checkEvents(db, load, find)
		await checkJourneys(db, load, find)
		await checkCounters(db, stack, load, harms, find)
		for (const what of stuck) find('stuck', what)
		for (const what of load.oddities) find('miscounted', what)
		checkRefusals(load, harms, find)
		return {
			...counts,
			accepted: [...load.sends.values()].filter((ids) => ids.length > 0).length,
			mails: mails.length,
			repeatedAndMarked,
			uncertain: mails.filter(({ status }) => status === 'UNCERTAIN').length,
			settledAfterMs,
			findings,
		} satisfies Verdict
	} finally {
		await db.end()
	}
}

/** Each address got one request, which created one mail or, without an answer, perhaps none. */
function checkSends({ sends }: Load, mails: Mail[], isIdempotent: boolean, find: Find) {
	const single = mails.filter(({ source }) => source === 'TRANSACTIONAL')
	const rowsOf = Map.groupBy(single, ({ to }) => to)
	for (const [to, told] of sends) {
		const rows = rowsOf.get(to) ?? []
		if (rows.length > 1) find('repeated', `a request to send to ${to} made ${rows.length} mails`)
		for (const id of told)
			if (!rows.some((row) => row.id === id)) find('lost', `mail ${id} to ${to} was accepted`)
		const exists = isIdempotent || !to.includes(nobody)
		for (const { status } of rows)
			if (!exists && status !== 'BOUNCED' && status !== 'FAILED')
				find('miscounted', `${to} does not exist, and its mail is ${status}`)
	}
	for (const to of rowsOf.keys())
		if (!sends.has(to)) find('miscounted', `nobody asked for a mail to ${to}`)
}

async function checkEvents(db: pg.Client, { events }: Load, find: Find) {
	const { rows } = await db.query<{ id: string; what: string }>(
		`select e.id, e.name || ' ' || c.email as what from events e join contacts c on c.id = e.contact_id
		where e.name in ('signed-up', 'bought')`,
	)
	const rowsOf = Map.groupBy(rows, ({ what }) => what)
	for (const [what, told] of events) {
		const there = rowsOf.get(what) ?? []
		if (there.length > 1) find('repeated', `the event ${what} is there ${there.length} times`)
		if (told && there[0]?.id !== told) find('lost', `the event ${what} was accepted`)
	}
}

async function checkJourneys(db: pg.Client, { events }: Load, find: Find) {
	const { rows } = await db.query<Record<'status' | 'error' | 'email', string> & Counted>(
		`select c.email, x.status, coalesce(x.error, '') as error,
			(select count(*)::int from execution_steps s where s.execution_id = x.id) as visits,
			(select count(*)::int from emails e where e.workflow_execution_id = x.id) as mails
		from executions x join contacts c on c.id = x.contact_id`,
	)
	const begun = Map.groupBy(rows, ({ email }) => email)
	for (const { email, status, error, visits, mails } of rows) {
		if (status !== 'COMPLETED') find('stuck', `the execution of ${email} is ${status} ${error}`)
		else if (visits !== visitsOfJourney || mails !== mailsOfJourney)
			find('miscounted', `the execution of ${email} made ${visits} visits and ${mails} mails`)
		if (begun.get(email)!.length > 1) find('repeated', `${email} was enrolled twice`)
	}
	for (const [what, told] of events)
		if (told && what.startsWith('signed-up ') && !begun.has(what.slice('signed-up '.length)))
			find('lost', `${what} began nothing`)
}

interface Counted {
	visits: number
	mails: number
}

/**
 * Only an API that can't serve may refuse. It can serve while Temporal, the worker or the provider is
 * away.
 */
function checkRefusals({ refusals }: Load, harms: Harm[], find: Find) {
	const serving = harms.filter(({ fault }) => /^api|postgres|disk/.test(fault))
	for (const { at, what } of refusals)
		if (!serving.some(({ from, until }) => at > from - graceMs && at < until + graceMs))
			find('refused', `${new Date(at).toISOString()}, when nothing was wrong with us: ${what}`)
}

/** A request may be under way when a fault begins, and connections take a moment to recover. */
const graceMs = 5000
