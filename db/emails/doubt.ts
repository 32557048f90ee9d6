import { bool, float, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { isOpen, keepStart, keyLifeHours, startedAt } from './ledger.ts'

// How a mail comes into doubt, and how doubt ends without evidence. Compare-and-set, like all changes of
// the ledger.

/** The provider in use has the mail's id, and remembers it. */
const isKnown = `$isIdempotent::bool and e.provider = $provider::text
				and coalesce(e.first_attempt_at, ${startedAt}) > now() - interval '${keyLifeHours} hours'`

/**
 * Mails whose worker was lost between hand-over and record. If the provider that they went to is in use and knows
 * our ids, they are repeated under the same id for as long as it remembers (a day from the first attempt); otherwise they
 * are in doubt.
 */
export const doubt = statement('doubt', {
	params: {
		projectId: uuid,
		mails: json<{ id: string; attempt: number }[]>(),
		provider: text,
		isIdempotent: bool,
	},
	row: { id: uuid, status: text.of<'PENDING' | 'UNCERTAIN'>() },
	text: `with doubted as (
		update emails e set
			status = case when ${isKnown} then 'PENDING' else 'UNCERTAIN' end,
			due_at = case when ${isKnown} then coalesce(e.due_at, now()) end,
			error = 'The worker went away between the hand-over and its record', updated_at = now(),
			${keepStart}
		from jsonb_to_recordset($mails::jsonb) as d(id uuid, attempt int)
		where e.project_id = $projectId and e.id = d.id and e.attempt = d.attempt
			and e.status = 'SENDING'
		returning e.project_id, e.id, e.status, e.attempt, e.attempt_started_at, e.provider, e.error
	), attempted as (
		insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, attempt, attempt_started_at, 'UNKNOWN', provider, error from doubted
		on conflict do nothing
	)
	select id, status from doubted`,
})

/**
 * Mails that wait for another try, although an earlier one may have arrived: in doubt once their provider has forgotten
 * their ids, or if another one is in use. Those that are known to be possible repeats are sent.
 */
export const doubtForgotten = statement('doubt-forgotten', {
	params: { projectId: uuid, emailIds: uuid.array, provider: text, isIdempotent: bool },
	row: { id: uuid, status: text.of<'UNCERTAIN'>() },
	text: `update emails e set status = 'UNCERTAIN', error = 'An earlier try may have arrived', due_at = null,
		updated_at = now()
	where e.project_id = $projectId and e.id = any($emailIds::uuid[]) and e.status = 'PENDING'
		and not e.possible_repeat
		and not ($isIdempotent::bool and e.provider = $provider::text
			and e.first_attempt_at > now() - interval '${keyLifeHours} hours')
		and is_in_doubt_since(e.project_id, e.id, e.first_attempt_at)
	returning e.id, e.status`,
})

/** Queues transactional mail that no evidence has settled in time for another try, and marks it. */
export const repeat = statement('repeat', {
	params: { projectId: uuid, emailIds: uuid.array, doubtSeconds: float },
	row: { id: uuid },
	text: `update emails e set status = 'PENDING', possible_repeat = true, due_at = null, updated_at = now()
	where e.project_id = $projectId and e.id = any($emailIds::uuid[]) and e.status = 'UNCERTAIN'
		and ${isOpen}
		and e.attempt_started_at <= now() - make_interval(secs => $doubtSeconds::float8)
	returning e.id`,
})
