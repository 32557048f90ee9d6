import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

// What moves a campaign from one status to the next. Every move is a compare-and-set, and tells Temporal
// in the same statement.

export interface CampaignKey {
	projectId: string
	campaignId: string
}

/**
 * Whatever has happened: a run that is there looks at its campaign again, and if there is none, one is
 * started. Runs go by what the database says, so that one word too many is harmless.
 */
export const tell = (changed: string, taskQueue: string) => `
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes)
	select project_id, 'signal', ${priorities.bulk}, 'campaign', 'campaign/' || id, ${taskQueue},
		jsonb_build_object('name', 'changed',
			'argument', jsonb_build_object('projectId', project_id, 'campaignId', id)),
		left(name, 80) || ': ' || total_recipients || ' recipients', jsonb_build_object('CampaignId', id)
	from ${changed}`

const moved = (update: string, where: string, taskQueue: string) =>
	`with moved as (
		update campaigns k set ${update}, updated_at = now() from projects p
		where p.id = k.project_id and k.project_id = $1 and k.deleted_at is null and ${where}
		returning k.project_id, k.id, k.name, k.total_recipients
	), told as (${tell('moved', taskQueue)}
	)
	select id from moved`

/** Content and audience are from now on as they are now. */
const start = `status = 'SENDING', started_at = now(), project_name = p.name, language = p.language,
	tracking = p.tracking, postal_address = p.postal_address`

/** $1 project, $2 campaign, $3 how many recipients, $4 task queue */
export const sendNow = statement<{ id: string }>(
	'send-campaign-now',
	moved(
		`${start}, scheduled_for = null, total_recipients = $3::int`,
		`k.id = $2::uuid and k.status in ('DRAFT', 'SCHEDULED')`,
		'$4::text',
	),
)

/** $1 project, $2 campaign, $3 how many recipients, $4 task queue, $5 when */
export const schedule = statement<{ id: string }>(
	'schedule-campaign',
	moved(
		`status = 'SCHEDULED', scheduled_for = $5::timestamptz, total_recipients = $3::int`,
		`k.id = $2::uuid and k.status in ('DRAFT', 'SCHEDULED')`,
		'$4::text',
	),
)

/** Its time has come: the run asks for it itself. $1 project, $2 campaign */
export const startDue = statement<{ id: string }>(
	'start-due-campaign',
	`update campaigns k set ${start}, updated_at = now() from projects p
	where p.id = k.project_id and k.project_id = $1 and k.id = $2 and k.status = 'SCHEDULED'
		and k.scheduled_for <= now()
	returning k.id`,
)

const cancelled = (reason: string) =>
	`status = 'CANCELLED', cancelled_reason = ${reason}, paused_at = null, paused_reason = null`
const active = `k.status in ('SCHEDULED', 'SENDING')`

/** True at once: no mail that is not already on its way will go. $1 project, $2 campaign, $3 task queue */
export const cancel = statement<{ id: string }>(
	'cancel-campaign',
	moved(cancelled(`'OWNER'`), `k.id = $2::uuid and ${active}`, '$3::text'),
)

/** All that a project has on its way, when it is disabled. $1 project, $2 task queue */
export const cancelCampaignsOf = statement<{ id: string }>(
	'cancel-campaigns-of-project',
	moved(cancelled(`'PROJECT_DISABLED'`), active, '$2::text'),
)

/** $1 project, $2 campaign, $3 task queue, $4 reason */
export const pause = statement<{ id: string }>(
	'pause-campaign',
	moved(
		'paused_at = now(), paused_reason = $4::text',
		`k.id = $2::uuid and k.status = 'SENDING' and k.paused_at is null`,
		'$3::text',
	),
)

/** What a project has on its way and what is still to come. $1 project, $2 task queue, $3 reason, $4 types */
export const pauseCampaignsOf = statement<{ id: string }>(
	'pause-campaigns-of-project',
	moved(
		'paused_at = now(), paused_reason = $3::text',
		`k.status = 'SENDING' and k.paused_at is null and k.type = any($4::text[])`,
		'$2::text',
	),
)

/** What was paused for a reason that is no more. $1 project, $2 task queue, $3 reason */
export const resumeCampaignsOf = statement<{ id: string }>(
	'resume-campaigns-of-project',
	moved(
		'paused_at = null, paused_reason = null',
		`k.status = 'SENDING' and k.paused_reason = $3::text`,
		'$2::text',
	),
)

/** $1 project, $2 campaign, $3 task queue */
export const resume = statement<{ id: string }>(
	'resume-campaign',
	moved(
		'paused_at = null, paused_reason = null',
		`k.id = $2::uuid and k.status = 'SENDING' and k.paused_at is not null`,
		'$3::text',
	),
)
