import { priorities } from '../outbox/outbox.ts'
import { int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { columns, type DomainRecord, type DomainRow, domainRowColumns } from './domain-records.ts'

// Anybody can add any name, and Resend has each in the operator's account. So there are limits on how many of them may
// be there unproved, and for how long.

/** In all projects of an owner. */
export const mostPending = 20

export const daysPending = 30

/** Nobody has proved it or asked for a check of it for that long. */
export const isExpired = ({ verifiedAt, awaitedSince }: DomainRow) =>
	verifiedAt === null && Date.now() - awaitedSince.getTime() > daysPending * 86_400_000

/** Until the transaction ends, no project of the same owner gets further domains from others. */
export const lockOwner = statement('lock-owner-of-domains', {
	params: { projectId: uuid },
	row: { id: uuid },
	text: `select u.id from memberships m join users u on u.id = m.user_id
	where m.project_id = $projectId and m.role = 'OWNER' order by u.id for no key update of u`,
})

/** After the lock, in a statement of its own: it sees what the transactions before it added. */
export const countPending = statement('count-pending-domains', {
	params: { projectId: uuid },
	row: { count: int },
	text: `select count(*)::int as count from domains
	where verified_at is null and project_id in (
		select $projectId::uuid union
		select theirs.project_id from memberships own
			join memberships theirs on theirs.user_id = own.user_id and theirs.role = 'OWNER'
		where own.project_id = $projectId and own.role = 'OWNER')`,
})

/**
 * Forgets the domain at the provider, and queues its removal there. No row: meanwhile it was proved, deleted or set up
 * again, or a check was requested.
 */
export const leaveProvider = statement('leave-provider', {
	params: {
		projectId: uuid,
		domainId: uuid,
		providerDomainId: text,
		records: json<DomainRecord[]>(),
		error: text,
		taskQueue: text,
	},
	row: domainRowColumns,
	text: `with left_behind as (
		update domains d set provider_domain_id = null, records = $records::jsonb, last_error = $error::text,
			last_checked_at = now(), updated_at = now(), next_check_at = now() + interval '1 day'
		where project_id = $projectId and id = $domainId::uuid and provider_domain_id = $providerDomainId::text
			and verified_at is null and awaited_since < now() - interval '${daysPending} days'
		returning *
	), queued as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'removeDomain',
			'remove-domain/' || id || '/' || $providerDomainId, $taskQueue::text,
			jsonb_build_object('providerDomainId', $providerDomainId::text), domain
		from left_behind
	)
	select ${columns('d')} from left_behind d`,
})
