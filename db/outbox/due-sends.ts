import type { Pool } from 'pg'
import { isProvedSender, lostSender } from '../domains/proved-sender.ts'
import { indexWalk } from '../index-walk.ts'
import { float, int, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { priorities } from './outbox.ts'

// Scheduled mails wait as rows of `scheduled_sends`, without timers. When they are due, pages of them become runs of the
// workflow `send`, which have their own, lower priority. They never stand in the queue of what is sent now.

const mailsPerRun = 500
/** Of all projects: while many have due mails, their runs are smaller and their turns come sooner. */
const mailsAtOnce = 2000
/** More wait for these runs to end their first pass, so that the mails of a project that are sent now find room. */
const newRunsPerProject = 2
const runsPerProject = 8
const projectsAtOnce = 20
/** A mail may be locked for long, for example by an erasure. Others don't wait for it. */
const lockTimeoutMs = 400

/** Negative for the past; null: no mail is scheduled. */
const soonest = statement('soonest-scheduled-send', {
	params: {},
	row: { inMs: float.orNull },
	text: `select (extract(epoch from min(due_at) - now()) * 1000)::float8 as "inMs" from scheduled_sends`,
})

/**
 * The next projects with due mails that have room for another run, behind the one that had the last turn. They are walked by
 * the index, however many mails each has scheduled.
 */
const freeProjects = statement('free-projects-of-due-sends', {
	params: {
		last: uuid.orNull,
		newRunsPerProject: int,
		runsPerProject: int,
		projectsAtOnce: int,
		priority: int,
	},
	row: { projectId: uuid },
	text: `with recursive ${indexWalk('project', 'project_id', 'scheduled_sends')}
	select id as "projectId" from project where id is not null
		and exists (select from scheduled_sends s where s.project_id = project.id and s.due_at <= now())
		and (
			select count(*) filter (where o.done_at is null or o.done_at > now() - interval '1 second')
				< $newRunsPerProject::int and count(*) < $runsPerProject::int
			from outbox o where o.workflow_type = 'send' and o.project_id = project.id
				and o.priority = $priority::int)
	order by id <= $last::uuid, id limit $projectsAtOnce::int`,
})

/** Takes the mails of a project that are due the longest. */
const takeDue = statement('take-due-sends', {
	params: { projectId: uuid, mails: int },
	row: { emailId: uuid },
	text: `select email_id as "emailId" from scheduled_sends
		where project_id = $projectId and due_at <= now()
		order by due_at, email_id limit $mails::int for update skip locked`,
})

/**
 * Makes one run of these mails, in their order. Consent and the sender's domain are looked up now, so that a mail
 * which may not leave needs no run. Only those who delete a mail's row may change it from SCHEDULED: see db/emails/scheduling.ts.
 */
const release = statement('release-due-sends', {
	params: { projectId: uuid, emailIds: uuid.array, taskQueue: text, priority: int },
	text: `with fresh as materialized (
		select uuidv7() as id
	), gone as (
		delete from scheduled_sends
		where project_id = $projectId and email_id = any(array(select unnest($emailIds::uuid[])))
		returning email_id, needs_consent
	), released as (
		update emails e set (status, error) = (
				select case when because is null then 'PENDING' else 'CANCELLED' end, because
				from (select case when ${isProvedSender('$projectId', 'e."from"')} then may_send(null, null, g.needs_consent, coalesce(
					(select c.subscribed from contacts c where c.project_id = $projectId and c.id = e.contact_id), false),
					e."to", true, 'local') else '${lostSender}' end) asked(because)),
			updated_at = now()
		from gone g
		where e.project_id = $projectId and e.id = g.email_id and e.status = 'SCHEDULED'
			and e.id = any(array(select unnest($emailIds::uuid[])))
			and e.id between first_of($emailIds::uuid[]) and last_of($emailIds::uuid[])
		returning e.id, e.contact_id, e.status
	), claimed as (
		insert into queued_sends (project_id, request_id, claim_id, priority, email_ids)
		select $projectId, fresh.id, fresh.id, $priority::int, array_agg(m.id order by m.place)
		from fresh, unnest($emailIds::uuid[]) with ordinality m(id, place)
		join released r on r.id = m.id where r.status = 'PENDING'
		group by fresh.id
		returning claim_id, email_ids
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
		search_attributes)
	select $projectId, 'start', $priority::int, 'send', 'send/' || claim_id, $taskQueue::text,
		jsonb_build_object('claimId', claim_id),
		cardinality(email_ids) || case cardinality(email_ids) when 1 then ' scheduled mail' else ' scheduled mails' end,
		case cardinality(email_ids) when 1 then (
			select jsonb_build_object('ContactId', r.contact_id) from released r
			where r.id = email_ids[1] and r.contact_id is not null) end
	from claimed`,
})

type Log = ReleasingServices['log']

/** Lets one process release due mails in turns of the projects. A project that fails holds up no other. */
export function createRelease(pool: Pool, taskQueue: string, log: Log) {
	const priority = priorities.scheduled
	const limits = { newRunsPerProject, runsPerProject, projectsAtOnce, priority }
	let last: string | null = null

	/** Releases a page of each of the next projects, and returns the number of mails. */
	return async function releaseDue() {
		const projects = await freeProjects(pool, { ...limits, last })
		const mails = Math.min(mailsPerRun, Math.ceil(mailsAtOnce / projects.length))
		let count = 0
		for (const { projectId } of projects) {
			last = projectId
			try {
				count += await releasePage(pool, projectId, mails, taskQueue)
			} catch (error) {
				log.warn({ err: error, projectId }, 'the due mails of a project could not be released')
			}
		}
		return count
	}
}

const releasePage = (pool: Pool, projectId: string, mails: number, taskQueue: string) =>
	transaction(
		pool,
		async (db) => {
			const due = await takeDue(db, { projectId, mails })
			const emailIds = due.map(({ emailId }) => emailId)
			if (emailIds.length > 0)
				await release(db, { projectId, emailIds, taskQueue, priority: priorities.scheduled })
			return emailIds.length
		},
		`set local lock_timeout = ${lockTimeoutMs}`,
	)

interface ReleasingServices {
	pool: Pool
	workflowTaskQueue: string
	log: { warn(fields: object, message: string): void }
	/** Called when runs are to be started. */
	released(): void
}

/** How often the next due time is looked up: a time that is changed is noticed this late. */
const lookMs = 250
/** Mails that are due within this time share a run. */
const gatherMs = 100

/** Releases mails at their time, from any number of processes. */
export function startReleasing({ pool, workflowTaskQueue, log, released }: ReleasingServices) {
	const releaseDue = createRelease(pool, workflowTaskQueue, log)
	let stopped = false
	let timer: NodeJS.Timeout | undefined
	let looking: Promise<void> = Promise.resolve()

	/** Returns when to look again. */
	async function look() {
		const [next] = await soonest(pool)
		const inMs = next!.inMs ?? Infinity
		if (inMs > 0) return Math.min(inMs + 1, lookMs)
		const count = await releaseDue()
		if (count > 0) released()
		// The runs of these projects have yet to end their first pass.
		if (count === 0) return lookMs
		return count < mailsPerRun ? gatherMs : 0
	}

	async function lookOn() {
		const waitMs = await look().catch((error: unknown) => {
			// The database is unavailable; the next look tries again.
			log.warn({ err: error }, 'due mails could not be released')
			return 1000
		})
		if (!stopped) timer = setTimeout(begin, waitMs)
	}

	function begin() {
		looking = lookOn()
	}

	begin()
	return {
		async stop() {
			stopped = true
			clearTimeout(timer)
			await looking
		},
	}
}
