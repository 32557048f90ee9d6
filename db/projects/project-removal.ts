import type { Pool, PoolClient } from 'pg'
import { unreportedUsage } from '../billing/usage-reporting.ts'
import { isCleanup } from '../outbox/cleanups.ts'
import { priorities } from '../outbox/outbox.ts'
import { bigint, bool, int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Tables with a few rows per project that a reset keeps. Its reputation with recipients and its usage are
 * not for the project to erase. All other tables that refer to a project lose its rows, including future
 * tables: they are found in the catalogue. Tallies come before counts, as in folding.
 */
export const kept = [
	'memberships',
	'invitations',
	'domains',
	'webhook_secrets',
	'suspensions',
	'reputation_tallies',
	'reputation_counts',
	'billing_accounts',
	'usage_tallies',
	'usage_counts',
	'usage_notices',
	'usage_reports',
]

/** No key, session or worker finds it any more: its mails may not be sent, and its runs end. */
const buried = `public_id = null, deleted_at = now(), disabled_reason = 'MANUAL',
	public_key = 'gone ' || id, secret_key_digest = uuid_send(id), updated_at = now()`

const startRemoval = (of: string, because: string) => `
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select id, 'start', ${priorities.bulk}, 'deleteProject', 'delete/' || id, $taskQueue::text,
		jsonb_build_object('projectId', id), ${because} from ${of}`

/**
 * The project's row is buried with all its data, and a copy with its keys, settings and public id takes
 * its place. Future columns are copied as well. No row: another request was faster.
 */
const replaceProject = statement('replace-project', {
	params: { projectId: uuid, taskQueue: text },
	row: { id: uuid },
	text: `with grave as (
		update projects set ${buried} where id = $projectId and public_id is not null
		returning id, to_jsonb(old) as was
	), fresh as (
		insert into projects
		select copy.* from grave, jsonb_populate_record(null::projects,
			was || jsonb_build_object('id', uuidv7(), 'updated_at', now())) as copy
		returning id
	), started as (${startRemoval('grave', `'What project ' || (was->>'public_id') || ' had before its reset'`)}
	)
	select id from fresh`,
})

/**
 * Takes the old row's mails that never leave from the new row's usage. They are found by their rows in the lists of
 * waiting mails. Mails that are being handed over may still leave, so they stay counted.
 */
const uncountDestroyed = statement('uncount-destroyed-mails', {
	params: { projectId: uuid, freshId: uuid },
	text: `insert into usage_tallies (project_id, month, category, used, sent)
	select $freshId, u.month, usage_category(e.source_type), -sum(u.used)::int, 0
	from (
		select email_id as id from scheduled_sends where project_id = $projectId
		union
		select unnest(email_ids) from queued_sends where project_id = $projectId
	) waiting
	join emails e on e.project_id = $projectId and e.id = waiting.id
		and e.status in ('SCHEDULED', 'PENDING')
	cross join lateral usage_of_mail(e.source_type, usage_weight(e.attachments), e.created_at, null) u
	group by u.month, usage_category(e.source_type)`,
})

/**
 * Empty at once for readers, however many rows there were. The rows are deleted later. In a transaction that has
 * locked the billing account.
 */
export async function resetProject(db: PoolClient, projectId: string, taskQueue: string) {
	const [fresh] = await replaceProject(db, { projectId, taskQueue })
	if (!fresh) return
	for (const table of kept)
		await db.query(`update ${table} set project_id = $2 where project_id = $1`, [
			projectId,
			fresh.id,
		])
	await uncountDestroyed(db, { projectId, freshId: fresh.id })
}

/**
 * Projects that were buried more than five minutes ago and that Temporal has received: Temporal is asked
 * about their runs.
 */
export const unfinishedRemovals = statement('unfinished-removals', {
	params: { limit: int },
	row: { project_id: uuid, workflow_id: text },
	text: `select id as project_id, 'delete/' || id as workflow_id from projects p
	where deleted_at < now() - interval '5 minutes' and not exists (
		select from outbox o where o.workflow_id = 'delete/' || p.id and o.done_at is null)
	order by random() limit $limit::int`,
})

/** Restarts lost runs. */
export const restartRemovals = statement('restart-removals', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `with found as (
		select project_id as id from jsonb_to_recordset($runs::jsonb) as l(project_id uuid)
	)${startRemoval('found', `'found unfinished, started again'`)}`,
})

/**
 * Gone at once for readers, and its domains are free for others. Also deletes reports that were certainly not sent to
 * Stripe: only the run that ends the subscription reports their usage. In a transaction that has locked the billing
 * account, so that this sees usage that was recorded while it waited. No row: another request was faster.
 */
export const deleteProject = statement('delete-project', {
	params: { projectId: uuid, taskQueue: text },
	row: { id: bigint },
	text: `with grave as (
		update projects set ${buried} where id = $projectId and public_id is not null
		returning id, old.public_id as known_as
	), members_gone as (
		delete from memberships m using grave where m.project_id = grave.id
	), invitations_gone as (
		delete from invitations i using grave where i.project_id = grave.id
	), domains_gone as (
		delete from domains d using grave where d.project_id = grave.id
		returning d.id, d.project_id, d.domain, d.provider_domain_id
	), account_gone as (
		delete from billing_accounts a using grave where a.project_id = grave.id
		returning a.project_id, a.customer_id, a.subscription_id, a.subscribed
	), reports_gone as (
		delete from usage_reports r using grave
		where r.project_id = grave.id and r.attempted_at is null and r.reported_at is null
		returning r.value
	), subscription_queued as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'endSubscription',
			'end-subscription/' || customer_id, $taskQueue::text,
			jsonb_build_object('subscriptionId', subscription_id, 'customerId', customer_id,
				'unreported', greatest(0, case when subscribed then unreported else 0 end + unsent)),
			'its project is deleted'
		from account_gone
		cross join lateral (${unreportedUsage('account_gone.project_id')}) u
		cross join (select coalesce(sum(value), 0)::int as unsent from reports_gone) r
		where customer_id is not null
	), domains_queued as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'removeDomain',
			'remove-domain/' || id, $taskQueue::text,
			jsonb_build_object('providerDomainId', provider_domain_id), domain
		from domains_gone where provider_domain_id is not null
	)
	${startRemoval('grave', `'All of project ' || known_as`)} returning id`,
})

/**
 * The outcome of changing a project by its id outside. After waiting for a reset, the first look finds the old row
 * buried, and the second finds the new row.
 */
export const ofLiving = async <T>(change: () => Promise<T | undefined>) =>
	(await change()) ?? change()

export const findLiving = statement('find-living-project', {
	params: { publicId: uuid },
	row: { id: uuid },
	text: `select id from projects where public_id = $publicId`,
})

/** Whether it is buried: only then may its rows be deleted. */
export const isBuried = statement('is-project-buried', {
	params: { projectId: uuid },
	row: { buried: bool },
	text: `select deleted_at is not null as buried from projects where id = $projectId`,
})

/**
 * What Temporal has yet to receive about the ends of a project's runs: executions being closed, and
 * waiting outbox rows.
 */
export const countOpenRuns = statement('count-open-runs', {
	params: { projectId: uuid },
	row: { count: int },
	text: `select (select count(*)::int from executions where project_id = $projectId and is_closing)
		+ (select count(*)::int from outbox
			where project_id = $projectId and done_at is null
				and workflow_id <> 'delete/' || $projectId::uuid) as count`,
})

/** Also deletes the few rows that may have been added meanwhile, unless there is a cleanup among them. */
export const deleteProjectRow = statement('delete-project-row', {
	params: { projectId: uuid },
	text: `delete from projects where id = $projectId and deleted_at is not null and not exists (
		select from outbox where project_id = $projectId and ${isCleanup})`,
})

/**
 * Tables whose rows belong to a project, referring tables first, so that no row is detached just before it
 * is deleted.
 */
export async function tablesOfProjects(db: Pool | PoolClient): Promise<string[]> {
	const waiting = new Map(
		(await referringTables(db)).map(({ table, refersTo }) => [table, refersTo]),
	)
	const ordered: string[] = []
	while (waiting.size > 0) {
		const referred = new Set([...waiting].flatMap(([table, to]) => to.filter((t) => t !== table)))
		// Tables that refer to each other in a circle come in any order.
		const free = [...waiting.keys()].filter((table) => !referred.has(table))
		for (const table of free.length > 0 ? free : waiting.keys()) {
			ordered.push(table)
			waiting.delete(table)
		}
	}
	return ordered
}

const referringTables = statement('tables-of-projects', {
	params: {},
	row: { table: text, refersTo: text.array },
	text: `select format('%I', c.relname) as table, array(
		select distinct format('%I', r.relname) from pg_constraint f join pg_class r on r.oid = f.confrelid
		where f.conrelid = c.oid and f.contype = 'f') as "refersTo"
	from pg_class c where c.relnamespace = current_schema()::regnamespace and not c.relispartition
		and exists (select from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'
			and f.confrelid = 'projects'::regclass)
	order by c.relname`,
})

/**
 * Deletes about this many of the project's rows from a table, and returns the number. Cleanups in the
 * outbox stay until they are done. Rows of several partitions may have the same place.
 */
export async function deleteRows(pool: Pool, table: string, projectId: string, atMost: number) {
	const spared = table === 'outbox' ? `and (${isCleanup}) is not true` : ''
	const { rowCount } = await pool.query(
		`delete from ${table} where project_id = $1 and ctid = any(array(
			select ctid from ${table} where project_id = $1 ${spared} limit $2::int))`,
		[projectId, atMost],
	)
	return rowCount ?? 0
}
