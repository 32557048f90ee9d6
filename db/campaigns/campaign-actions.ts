import { hasRoom } from '../billing/usage-standing.ts'
import { isProvedSender } from '../domains/proved-sender.ts'
import { priorities } from '../outbox/outbox.ts'
import { bool, int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// Moves a campaign from one status to the next. Every move is a compare-and-set and notifies Temporal in
// the same statement.

export interface CampaignKey {
	projectId: string
	campaignId: string
}

/**
 * Notifies the campaign's run of a change, or starts a run if there is none. Runs act on the database's
 * state, so an extra notice is harmless.
 */
export const notifyRun = (changed: string, taskQueue: string) => `
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
		where p.id = k.project_id and k.project_id = $projectId and k.deleted_at is null and ${where}
		returning k.project_id, k.id, k.name, k.total_recipients
	), notified as (${notifyRun('moved', taskQueue)}
	)
	select id from moved`

/** Freezes content and audience in their current state. */
const start = `status = 'SENDING', started_at = now(), project_name = p.name, language = p.language,
	tracking = p.tracking, postal_address = p.postal_address`

export const sendNow = statement('send-campaign-now', {
	params: { projectId: uuid, campaignId: uuid, recipients: int, taskQueue: text },
	row: { id: uuid },
	text: moved(
		`${start}, scheduled_for = null, total_recipients = $recipients::int`,
		`k.id = $campaignId::uuid and k.status in ('DRAFT', 'SCHEDULED')`,
		'$taskQueue::text',
	),
})

export const schedule = statement('schedule-campaign', {
	params: {
		projectId: uuid,
		campaignId: uuid,
		recipients: int,
		taskQueue: text,
		scheduledFor: timestamp,
	},
	row: { id: uuid },
	text: moved(
		`status = 'SCHEDULED', scheduled_for = $scheduledFor::timestamptz,
			total_recipients = $recipients::int`,
		`k.id = $campaignId::uuid and k.status in ('DRAFT', 'SCHEDULED')`,
		'$taskQueue::text',
	),
})

/** For the run itself, when the campaign's time has come. */
export const startDue = statement('start-due-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: { id: uuid },
	text: `update campaigns k set ${start}, updated_at = now() from projects p
	where p.id = k.project_id and k.project_id = $projectId and k.id = $campaignId
		and k.status = 'SCHEDULED'
		and k.scheduled_for <= now()
	returning k.id`,
})

const cancelled = (reason: string) =>
	`status = 'CANCELLED', cancelled_reason = ${reason}, paused_at = null, paused_reason = null`
const active = `k.status in ('SCHEDULED', 'SENDING')`

/** Takes effect at once: no mail is sent that is not already on its way. */
export const cancel = statement('cancel-campaign', {
	params: { projectId: uuid, campaignId: uuid, taskQueue: text },
	row: { id: uuid },
	text: moved(cancelled(`'OWNER'`), `k.id = $campaignId::uuid and ${active}`, '$taskQueue::text'),
})

/** All active campaigns of a project, when it is disabled. */
export const cancelCampaignsOf = statement('cancel-campaigns-of-project', {
	params: { projectId: uuid, taskQueue: text },
	row: { id: uuid },
	text: moved(cancelled(`'PROJECT_DISABLED'`), active, '$taskQueue::text'),
})

export const pause = statement('pause-campaign', {
	params: { projectId: uuid, campaignId: uuid, taskQueue: text, reason: text },
	row: { id: uuid },
	text: moved(
		'paused_at = now(), paused_reason = $reason::text',
		`k.id = $campaignId::uuid and k.status = 'SENDING' and k.paused_at is null`,
		'$taskQueue::text',
	),
})

/** The active and upcoming campaigns of a project. */
export const pauseCampaignsOf = statement('pause-campaigns-of-project', {
	params: { projectId: uuid, taskQueue: text, reason: text, mailTypes: text.array },
	row: { id: uuid },
	text: moved(
		'paused_at = now(), paused_reason = $reason::text',
		`k.status = 'SENDING' and k.paused_at is null and k.type = any($mailTypes::text[])`,
		'$taskQueue::text',
	),
})

/** The active campaigns of a project whose sender it has not proved, or not any more. */
export const pauseUnproved = statement('pause-campaigns-of-unproved-senders', {
	params: { projectId: uuid, taskQueue: text },
	row: { id: uuid },
	text: moved(
		`paused_at = now(), paused_reason = 'SENDER'`,
		`k.status = 'SENDING' and k.paused_at is null and not ${isProvedSender('$projectId', 'k."from"')}`,
		'$taskQueue::text',
	),
})

/** The campaigns that were paused for a reason that has ended. */
export const resumeCampaignsOf = statement('resume-campaigns-of-project', {
	params: { projectId: uuid, taskQueue: text, reason: text },
	row: { id: uuid },
	text: moved(
		'paused_at = null, paused_reason = null',
		`k.status = 'SENDING' and k.paused_reason = $reason::text`,
		'$taskQueue::text',
	),
})

/** Not while the sender's domain is not verified, or the project's limit is reached. */
export const resume = statement('resume-campaign', {
	params: { projectId: uuid, campaignId: uuid, taskQueue: text, hasLimits: bool },
	row: { id: uuid },
	text: moved(
		'paused_at = null, paused_reason = null',
		`k.id = $campaignId::uuid and k.status = 'SENDING' and k.paused_at is not null
			and ${isProvedSender('$projectId', 'k."from"')}
			and (not $hasLimits::bool or ${hasRoom('$projectId', 'campaigns')})`,
		'$taskQueue::text',
	),
})
