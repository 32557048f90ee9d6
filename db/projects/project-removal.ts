import type { Pool, PoolClient } from 'pg'
import { lockBillingAccount, unreportedUsage } from '../billing/usage-reporting.ts'
import { isErrand } from '../outbox/errands.ts'
import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

/**
 * Tables that a reset leaves to the project, a few rows each; its reputation with recipients and what it
 * has used are not its own to wipe. All others that refer to a project lose its rows, new ones included:
 * they are found in the catalogue. Tallies come before counts, as for whoever folds them.
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

/** No key, no session and no worker finds it any more: its mails are barred, its runs end. */
const buried = `public_id = null, deleted_at = now(), disabled_reason = 'MANUAL',
	public_key = 'gone ' || id, secret_key_digest = uuid_send(id), updated_at = now()`

const startRemoval = (of: string, because: string) => `
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select id, 'start', ${priorities.bulk}, 'deleteProject', 'delete/' || id, $2::text,
		jsonb_build_object('projectId', id), ${because} from ${of}`

/**
 * The project's row is buried with all of its data, and one like it takes its place: its keys, its
 * settings, its id outside. Columns that are yet to come are copied as well.
 * No row: somebody else was faster. $1 project, $2 task queue
 */
const replaceProject = statement<{ id: string }>(
	'replace-project',
	`with grave as (
		update projects set ${buried} where id = $1 and public_id is not null
		returning id, to_jsonb(old) as was
	), fresh as (
		insert into projects
		select copy.* from grave, jsonb_populate_record(null::projects,
			was || jsonb_build_object('id', uuidv7(), 'updated_at', now())) as copy
		returning id
	), started as (${startRemoval('grave', `'What project ' || (was->>'public_id') || ' had before its reset'`)}
	)
	select id from fresh`,
)

/** Empty at once for whoever asks, however many rows there were; those go behind it. */
export const resetProject = (pool: Pool, projectId: string, taskQueue: string) =>
	transaction(pool, async (db) => {
		await lockBillingAccount(db, [projectId])
		const [fresh] = await replaceProject(db, [projectId, taskQueue])
		if (!fresh) return
		for (const table of kept)
			await db.query(`update ${table} set project_id = $2 where project_id = $1`, [
				projectId,
				fresh.id,
			])
	})

export interface UnfinishedRemoval {
	project_id: string
	workflow_id: string
}

/**
 * Projects buried more than five minutes ago, and of which Temporal was told: it is asked about their
 * runs. $1 how many at most
 */
export const unfinishedRemovals = statement<UnfinishedRemoval>(
	'unfinished-removals',
	`select id as project_id, 'delete/' || id as workflow_id from projects p
	where deleted_at < now() - interval '5 minutes' and not exists (
		select from outbox o where o.workflow_id = 'delete/' || p.id and o.done_at is null)
	order by random() limit $1::int`,
)

/** Starts lost runs again. $1 as `unfinishedRemovals` answers them, $2 task queue */
export const restartRemovals = statement(
	'restart-removals',
	`with found as (
		select project_id as id from jsonb_to_recordset($1::jsonb) as l(project_id uuid)
	)${startRemoval('found', `'found unfinished, started again'`)}`,
)

/**
 * Reports of which Stripe surely was not told go with it: the run that ends the subscription tells of
 * them, and nobody else. No row: somebody else was faster. $1 project, $2 task queue
 */
const buryProject = statement<{ id: string }>(
	'delete-project',
	`with grave as (
		update projects set ${buried} where id = $1 and public_id is not null
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
	), subscription_told as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'endSubscription', 'end-subscription/' || customer_id, $2::text,
			jsonb_build_object('subscriptionId', subscription_id, 'customerId', customer_id,
				'unreported', greatest(0, case when subscribed then unreported else 0 end + untold)),
			'its project is deleted'
		from account_gone
		cross join lateral (${unreportedUsage('account_gone.project_id')}) u
		cross join (select coalesce(sum(value), 0)::int as untold from reports_gone) r
		where customer_id is not null
	), domains_told as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'removeDomain', 'remove-domain/' || id, $2::text,
			jsonb_build_object('providerDomainId', provider_domain_id), domain
		from domains_gone where provider_domain_id is not null
	)
	${startRemoval('grave', `'All of project ' || known_as`)} returning id`,
)

/**
 * Gone at once for whoever asks; its domains are free for others. What was noted of its usage while its
 * account was waited for is seen by the statement that follows. In a transaction.
 */
export async function deleteProject(db: PoolClient, projectId: string, taskQueue: string) {
	await lockBillingAccount(db, [projectId])
	return buryProject(db, [projectId, taskQueue])
}

/**
 * The living project, whatever row it has by now: who waits for a reset to end finds the row buried
 * that was there, and at the second look the new one.
 */
export const deleteLivingProject = (pool: Pool, publicId: string, taskQueue: string) =>
	transaction(pool, (db) =>
		ofLiving(async () => {
			const [living] = await findLiving(db, [publicId])
			return living ? deleteProject(db, living.id, taskQueue) : []
		}),
	)

/** What a change of a project by its id outside comes to: at the second look, if a reset was under way. */
export async function ofLiving<T>(change: () => Promise<T[]>) {
	const found = await change()
	return found.length > 0 ? found : change()
}

const findLiving = statement<{ id: string }>(
	'find-living-project',
	`select id from projects where public_id = $1`,
)

/** Whether it is buried: only then may its rows go. $1 project */
export const isBuried = statement<{ buried: boolean }>(
	'is-project-buried',
	`select deleted_at is not null as buried from projects where id = $1`,
)

/**
 * What Temporal is not told yet of the ends that a project's runs have come to: executions that are
 * being closed, and words that wait in the outbox. $1 project
 */
export const countOpenRuns = statement<{ count: number }>(
	'count-open-runs',
	`select (select count(*)::int from executions where project_id = $1 and is_closing)
		+ (select count(*)::int from outbox
			where project_id = $1 and done_at is null and workflow_id <> 'delete/' || $1::uuid) as count`,
)

/** With the few rows that may have come meanwhile, unless there is an errand among them. $1 project */
export const deleteProjectRow = statement(
	'delete-project-row',
	`delete from projects where id = $1 and deleted_at is not null and not exists (
		select from outbox where project_id = $1 and ${isErrand})`,
)

/** Tables whose rows belong to a project, those first that refer to others: nothing is let go for nothing. */
export async function tablesOfProjects(db: Pool | PoolClient): Promise<string[]> {
	const waiting = new Map(
		(await referringTables(db, [])).map(({ table, refersTo }) => [table, refersTo]),
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

const referringTables = statement<{ table: string; refersTo: string[] }>(
	'tables-of-projects',
	`select format('%I', c.relname) as table, array(
		select distinct format('%I', r.relname) from pg_constraint f join pg_class r on r.oid = f.confrelid
		where f.conrelid = c.oid and f.contype = 'f') as "refersTo"
	from pg_class c where c.relnamespace = current_schema()::regnamespace and not c.relispartition
		and exists (select from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'
			and f.confrelid = 'projects'::regclass)
	order by c.relname`,
)

/**
 * How many rows of the project a table had, of at most so many that are gone now. Errands in the outbox
 * stay until they are done.
 */
export async function deleteRows(pool: Pool, table: string, projectId: string, atMost: number) {
	const spared = table === 'outbox' ? `and (${isErrand}) is not true` : ''
	const { rowCount } = await pool.query(
		`delete from ${table} where ctid = any(array(
			select ctid from ${table} where project_id = $1 ${spared} limit $2::int))`,
		[projectId, atMost],
	)
	return rowCount ?? 0
}
