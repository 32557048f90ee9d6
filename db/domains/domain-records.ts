import { priorities } from '../outbox/outbox.ts'
import { readersColumns } from '../projects/members.ts'
import { bool, bytes, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** A record that DNS should contain, and whether the last check found it. */
export interface DomainRecord {
	type: 'TXT' | 'CNAME' | 'MX'
	name: string
	value: string
	priority?: number
	purpose: 'DKIM' | 'SPF' | 'MX' | 'DMARC' | 'OWNERSHIP'
	status: 'pending' | 'verified'
	/** The answers of DNS. Null: it did not answer. Rows from before an upgrade have none until their next check. */
	found?: string[] | null
}

export const domainRowColumns = {
	id: uuid,
	projectId: uuid,
	domain: text,
	verifiedAt: timestamp.orNull,
	sweepExempt: bool,
	dkimSelector: text.orNull,
	dkimPublicKey: text.orNull,
	providerDomainId: text.orNull,
	tokenExempt: bool,
	records: json<DomainRecord[]>(),
	lastError: text.orNull,
	lastCheckedAt: timestamp.orNull,
	awaitedSince: timestamp,
	createdAt: timestamp,
	updatedAt: timestamp,
}
export type DomainRow = RowOf<typeof domainRowColumns>

export const columns = (d: string) => `${d}.id, ${d}.project_id as "projectId", ${d}.domain,
	${d}.verified_at as "verifiedAt", ${d}.sweep_exempt as "sweepExempt",
	${d}.dkim_selector as "dkimSelector", ${d}.dkim_public_key as "dkimPublicKey",
	${d}.provider_domain_id as "providerDomainId", ${d}.token_exempt as "tokenExempt",
	${d}.records, ${d}.last_error as "lastError",
	${d}.last_checked_at as "lastCheckedAt", ${d}.awaited_since as "awaitedSince", ${d}.created_at as "createdAt",
	${d}.updated_at as "updatedAt"`

/** Another project that has proved the domain. */
const otherOwner = (project: string, domain: string) =>
	`select from domains h
		where h.domain = ${domain} and h.verified_at is not null and h.project_id <> ${project}`

/**
 * No row: this project has already added the domain, or another project has it verified. A new domain is
 * checked at once, so the sweep checks it later.
 */
export const addDomain = statement('add-domain', {
	params: { projectId: uuid, domain: text },
	row: domainRowColumns,
	text: `insert into domains as d (project_id, domain, next_check_at)
	select $projectId::uuid, $domain::text, now() + interval '4 minutes'
		where not exists (${otherOwner('$projectId', '$domain')})
	on conflict (project_id, domain) do nothing
	returning ${columns('d')}`,
})

/** How many domains one project may have. */
export const mostDomains = 100

/** After the project is locked, in a statement of its own: it sees what the transactions before it added. */
export const countDomains = statement('count-domains', {
	params: { projectId: uuid },
	row: { count: int },
	text: 'select count(*)::int as count from domains where project_id = $projectId',
})

export const hasDomain = statement('has-domain', {
	params: { projectId: uuid, domain: text },
	row: { id: uuid },
	text: 'select id from domains where project_id = $projectId and domain = $domain',
})

export const findDomain = statement('find-domain', {
	params: { projectId: uuid, domainId: uuid },
	row: domainRowColumns,
	text: `select ${columns('d')} from domains d where project_id = $projectId
		and id = $domainId::uuid`,
})

export const domainsOf = statement('domains-of', {
	params: { projectId: uuid },
	row: domainRowColumns,
	text: `select ${columns('d')} from domains d where project_id = $projectId
		order by created_at desc, id desc`,
})

/** Sweeps of three days. Another key has to come into DNS first, and its owner may need that time. */
const patienceForNewKey = 860

/**
 * Stores a signing key of our own, unless there is one. If two are made at once, the first is kept. A verified domain
 * whose former key is lost stays verified for some days.
 */
export const keepDkimKey = statement('keep-dkim-key', {
	params: { projectId: uuid, domainId: uuid, selector: text, sealedKey: bytes, publicKey: text },
	row: domainRowColumns,
	text: `update domains d set
		dkim_selector = coalesce(dkim_selector, $selector::text),
		dkim_private_key = case when dkim_selector is null then $sealedKey::bytea
			else dkim_private_key end,
		dkim_public_key = case when dkim_selector is null then $publicKey::text else dkim_public_key end,
		failed_checks = case when dkim_selector is null and verified_at is not null then -${patienceForNewKey}
			else failed_checks end
	where project_id = $projectId and id = $domainId::uuid
	returning ${columns('d')}`,
})

/**
 * Stores the domain's id at the provider, replacing one that no longer exists. No row: another process has
 * replaced it, or the domain was deleted.
 */
export const keepProviderDomain = statement('keep-provider-domain', {
	params: {
		projectId: uuid,
		domainId: uuid,
		providerId: text,
		goneProviderIds: text.array,
		records: json<object[]>(),
	},
	row: { id: uuid },
	text: `update domains set provider_domain_id = $providerId::text, records = $records::jsonb,
		updated_at = now()
	where project_id = $projectId and id = $domainId::uuid
		and (provider_domain_id is null or provider_domain_id = any($goneProviderIds::text[]))
	returning id`,
})

/** Whether any project's domain uses this domain at the provider. */
export const isProviderDomainUsed = statement('is-provider-domain-used', {
	params: { providerId: text },
	row: { used: bool },
	text: 'select exists (select from domains where provider_domain_id = $providerId::text) as used',
})

/**
 * A verified domain loses its status after three failed checks of the sweep in a row. Requested checks
 * must not speed that up or delay it: they are not counted, and move the next sweep check only if they
 * find all records.
 */
const patienceChecks = 3

export type CheckedDomain = RowOf<typeof recordCheck>

const takenElsewhere =
	'The domain is verified in another project, which has to remove it or lose its DNS records first.'

/**
 * The result of a check, and the time of the next one: soon if a change is likely, then less and less
 * often. No row: the domain was deleted meanwhile.
 */
export const recordCheck = statement('record-domain-check', {
	params: {
		projectId: uuid,
		domainId: uuid,
		/** Null: unknown, because a look-up failed. */
		isVerified: bool.orNull,

		/** Null: unchanged. */
		records: json<object>().orNull,
		error: text.orNull,
		isSweep: bool,
	},
	row: {
		...domainRowColumns,
		/** Whether this check made it lose its status. */
		wasLost: bool,
		/** Another project has proved the domain. */
		isTaken: bool,
	},
	text: `with checked as (
		select id, case when $isVerified::bool then 0
			when not $isVerified and $isSweep::bool then failed_checks + 1
				else failed_checks end as failed,
			exists (${otherOwner('$projectId', 'd.domain')}) as taken
		from domains d where project_id = $projectId and id = $domainId::uuid for no key update
	)
	update domains d set
		verified_at = case when $isVerified::bool and not taken then coalesce(d.verified_at, now())
			when failed >= ${patienceChecks} then null else d.verified_at end,
		failed_checks = failed, records = coalesce($records::jsonb, d.records), 
		last_error = case when taken then '${takenElsewhere}' else $error::text end,
		token_exempt = d.token_exempt and failed < ${patienceChecks},
		last_checked_at = now(), updated_at = now(),
		awaited_since = case when d.verified_at is null and $isSweep then d.awaited_since else now() end,
		next_check_at = least(case when ($isVerified is not true or taken) and not $isSweep
			then d.next_check_at end, now() + case
			when $isVerified and not taken then interval '6 hours'
			when d.verified_at is not null or d.created_at > now() - interval '1 day' then interval '4 minutes'
			when d.created_at > now() - interval '14 days' then interval '1 hour'
			else interval '1 day' end)
	from checked where d.id = checked.id
	returning ${columns('d')}, old.verified_at is not null and new.verified_at is null as "wasLost",
		taken as "isTaken"`,
})

/** The turns are decided among these, so that a sweep costs the same however many domains are due. */
const mostCompared = 10_000

/**
 * Takes some of the domains whose check is due; projects take turns. Each is due again two sweeps later,
 * whether or not this sweep completes. One statement, so that two sweeps take different domains; it reads the
 * domains that are due longest by `domains_due`.
 */
export const takeDueDomains = statement('take-due-domains', {
	params: { limit: int },
	row: domainRowColumns,
	text: `with longest as materialized (
		select id, project_id, next_check_at from domains
		where next_check_at <= now() and not sweep_exempt
		order by next_check_at limit ${mostCompared}
	), due as (
		select d.id from (
			select id, next_check_at,
				row_number() over (partition by project_id order by next_check_at, id) as turn
			from longest
		) t join domains d on d.id = t.id and d.next_check_at <= now()
		order by t.turn, t.next_check_at, t.id limit $limit::int
		for no key update of d skip locked
	)
	update domains d set next_check_at = now() + interval '9 minutes'
	from due where d.id = due.id returning ${columns('d')}`,
})

/** The members to notify about a domain. */
export const domainReaders = statement('domain-readers', {
	params: { projectId: uuid },
	row: readersColumns,
	text: `select p.name as project, p.language, readers_of(p.id) as members
	from projects p where p.id = $projectId and p.disabled_reason is null`,
})

/** The senders that use it. Steps of workflows send through templates. */
export const domainUses = statement('domain-uses', {
	params: { projectId: uuid, domain: text },
	row: {
		templates: json<{ id: string; name: string }[]>(),
		campaigns: json<{ id: string; name: string; status: string }[]>(),
	},
	text: `select
		coalesce((select jsonb_agg(jsonb_build_object('id', id, 'name', name) order by name)
			from templates where project_id = $projectId
				and lower(split_part("from", '@', 2)) = $domain::text), '[]') as templates,
		coalesce((select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'status', status) order by name)
			from campaigns where project_id = $projectId and status in ('DRAFT', 'SCHEDULED', 'SENDING')
				and lower(split_part("from", '@', 2)) = $domain::text), '[]') as campaigns`,
})

/** Deletes a domain here, and queues its removal at the provider. */
const removal = (name: string, more = '') =>
	statement(name, {
		params: { projectId: uuid, domainId: uuid, taskQueue: text },
		row: { id: uuid },
		text: `with gone as (
		delete from domains where project_id = $projectId and id = $domainId::uuid ${more}
		returning id, project_id, domain, provider_domain_id
	), queued as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'removeDomain',
			'remove-domain/' || id, $taskQueue::text,
			jsonb_build_object('providerDomainId', provider_domain_id), domain
		from gone where provider_domain_id is not null
	)
	select id from gone`,
	})

export const removeDomain = removal('remove-domain')

/** No row: meanwhile another check has found its records or proved it, or it was deleted. */
export const abandonDomain = removal('abandon-domain', `and verified_at is null and records = '[]'`)
