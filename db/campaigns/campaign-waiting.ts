import { int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { pausedReasons } from './campaign.ts'

export const waitingReasons = ['paused', 'billing', 'provider', 'rate'] as const

/** At most this many deferred mails are counted. */
const mostCounted = 10_000

/** What a pause that nobody asked for is about, and what its owner can do. */
const aboutPauses = {
	TEMPLATE:
		'The template takes too long to render. Duplicate the campaign with a simpler one, or resume it.',
	SENDER: 'The sender’s domain is not verified. Verify it, then resume the campaign.',
	FAULT: 'The recipients could not be listed because of a fault. Resume the campaign to try again.',
} satisfies Partial<Record<(typeof pausedReasons)[number], string>>
const advice = Object.entries(aboutPauses)
	.map(([reason, words]) => `when '${reason}' then '${words}'`)
	.join(' ')

/**
 * Why a campaign that is being sent makes no progress; no row while mails are being sent. Deferred mails
 * are found by `emails_waiting`.
 */
export const waitingOf = statement('campaign-waiting', {
	params: { projectId: uuid, campaignId: uuid },
	row: {
		reason: text.of<(typeof waitingReasons)[number]>(),
		/** The provider's answer, or what a pause is about. */
		message: text.orNull,
		until: timestamp.orNull,
		mails: int,
	},
	text: `with campaign as materialized (
		select k.id, k.paused_at is not null as paused, k.paused_reason, n.pending + n.to_come as pending
		from campaigns k cross join lateral states_of_campaign(k.project_id, k.id) n
		where k.project_id = $projectId and k.id = $campaignId::uuid and k.deleted_at is null
			and k.status = 'SENDING'
	), deferred as materialized (
		select count(*)::int as mails, min(due_at) as until,
			(array_agg(error order by due_at))[1] as answer
		from (
			select due_at, error from emails
			where project_id = $projectId and campaign_id = $campaignId::uuid and due_at > now()
				and status = 'PENDING'
			limit ${mostCounted}
		) mails
	), away as materialized (
		select until, answer from provider_states where until > now() order by until limit 1
	)
	select reason, message, w.until, w.mails
	from campaign cross join deferred left join away on true
	left join send_budgets b on b.project_id = $projectId
	cross join lateral (values
		(1, paused and paused_reason = 'BILLING_LIMIT', 'billing', null, null::timestamptz, pending),
		(2, paused, 'paused',
			case paused_reason ${advice} end, null, pending),
		(3, pending > 0 and away.until is not null, 'provider', away.answer, away.until, pending),
		(4, pending > 0 and deferred.mails >= least(pending, ${mostCounted}), 'provider',
			deferred.answer, deferred.until, deferred.mails),
		(5, pending > 0 and b.next_at > now(), 'rate', null, b.next_at, pending)
	) as w(place, holds, reason, message, until, mails)
	where holds order by place limit 1`,
})
