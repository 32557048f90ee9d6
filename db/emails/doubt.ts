import { statement } from '../statement.ts'
import { isOpen, keyLifeHours } from './ledger.ts'

// How a mail comes into doubt, and leaves it without evidence. Compare-and-set, as all of the ledger.

/**
 * Mails whose worker went away between hand-over and record. A provider that knows our id is asked
 * again under the same id, as long as it remembers (a day, since the first attempt); any other leaves us
 * in doubt. $1 project, $2 [{id, attempt}], $3 whether the provider knows our ids
 */
export const doubt = statement<{ id: string; status: 'PENDING' | 'UNCERTAIN' }>(
	'doubt',
	`with doubted as (
		update emails e set
			status = case when $3::bool
					and coalesce(e.first_attempt_at, e.attempt_started_at)
						> now() - interval '${keyLifeHours} hours'
				then 'PENDING' else 'UNCERTAIN' end,
			error = 'The worker went away between the hand-over and its record', updated_at = now()
		from jsonb_to_recordset($2::jsonb) as d(id uuid, attempt int)
		where e.project_id = $1 and e.id = d.id and e.attempt = d.attempt and e.status = 'SENDING'
		returning e.project_id, e.id, e.status, e.attempt, e.attempt_started_at, e.provider, e.error
	), noted as (
		insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, attempt, attempt_started_at, 'UNKNOWN', provider, error from doubted
		on conflict do nothing
	)
	select id, status from doubted`,
)

/**
 * Transactional mail that no evidence has settled in time goes once more, and is marked.
 * $1 project, $2 ids, $3 seconds of doubt
 */
export const repeat = statement<{ id: string }>(
	'repeat',
	`update emails e set status = 'PENDING', possible_repeat = true, due_at = null, updated_at = now()
	where e.project_id = $1 and e.id = any($2::uuid[]) and e.status = 'UNCERTAIN' and ${isOpen}
		and e.attempt_started_at <= now() - make_interval(secs => $3::float8)
	returning e.id`,
)
