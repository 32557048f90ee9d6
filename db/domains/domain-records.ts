import { priorities } from '../outbox/outbox.ts'
import { type Readers, readersOf } from '../projects/members.ts'
import { statement } from '../statement.ts'

/** What is to stand in DNS, and whether it did when we last looked. */
export interface DomainRecord {
	type: 'TXT' | 'CNAME' | 'MX'
	name: string
	value: string
	priority?: number
	purpose: 'DKIM' | 'SPF' | 'MX' | 'DMARC' | 'OWNERSHIP'
	status: 'pending' | 'verified'
}

export interface DomainRow {
	id: string
	projectId: string
	domain: string
	verifiedAt: Date | null
	sweepExempt: boolean
	dkimSelector: string | null
	dkimPublicKey: string | null
	providerDomainId: string | null
	tokenExempt: boolean
	records: DomainRecord[]
	lastError: string | null
	lastCheckedAt: Date | null
	createdAt: Date
	updatedAt: Date
}

const columns = (d: string) => `${d}.id, ${d}.project_id as "projectId", ${d}.domain,
	${d}.verified_at as "verifiedAt", ${d}.sweep_exempt as "sweepExempt",
	${d}.dkim_selector as "dkimSelector", ${d}.dkim_public_key as "dkimPublicKey",
	${d}.provider_domain_id as "providerDomainId", ${d}.token_exempt as "tokenExempt",
	${d}.records, ${d}.last_error as "lastError",
	${d}.last_checked_at as "lastCheckedAt", ${d}.created_at as "createdAt",
	${d}.updated_at as "updatedAt"`

/** The project that has proved a domain, other than this one. */
const holder = (project: string, domain: string) =>
	`select from domains h
		where h.domain = ${domain} and h.verified_at is not null and h.project_id <> ${project}`

/**
 * No row: this project has claimed the domain already, or another one has it verified. A domain that is
 * added is checked at once, the sweep comes later. $1 project, $2 domain
 */
export const addDomain = statement<DomainRow>(
	'add-domain',
	`insert into domains as d (project_id, domain, next_check_at)
	select $1::uuid, $2::text, now() + interval '4 minutes' where not exists (${holder('$1', '$2')})
	on conflict (project_id, domain) do nothing
	returning ${columns('d')}`,
)

/** $1 project, $2 domain */
export const hasDomain = statement<{ id: string }>(
	'has-domain',
	'select id from domains where project_id = $1 and domain = $2',
)

/** $1 project, $2 domain's id */
export const findDomain = statement<DomainRow>(
	'find-domain',
	`select ${columns('d')} from domains d where project_id = $1 and id = $2::uuid`,
)

/** $1 project */
export const domainsOf = statement<DomainRow>(
	'domains-of',
	`select ${columns('d')} from domains d where project_id = $1 order by created_at desc, id desc`,
)

/**
 * A key of our own to sign with, unless there is one: of two who make one the first is kept.
 * $1 project, $2 id, $3 selector, $4 sealed private key, $5 public key
 */
export const keepDkimKey = statement<DomainRow>(
	'keep-dkim-key',
	`update domains d set
		dkim_selector = coalesce(dkim_selector, $3::text),
		dkim_private_key = case when dkim_selector is null then $4::bytea else dkim_private_key end,
		dkim_public_key = case when dkim_selector is null then $5::text else dkim_public_key end
	where project_id = $1 and id = $2::uuid
	returning ${columns('d')}`,
)

/**
 * Notes what a domain has at the provider, in the place of what is gone there. No row: another
 * process has made it anew, or the domain was removed.
 * $1 project, $2 id, $3 the provider's id, $4 those that are gone, $5 records
 */
export const keepProviderDomain = statement<{ id: string }>(
	'keep-provider-domain',
	`update domains set provider_domain_id = $3::text, records = $5::jsonb, updated_at = now()
	where project_id = $1 and id = $2::uuid
		and (provider_domain_id is null or provider_domain_id = any($4::text[]))
	returning id`,
)

/** Whether a domain of ours has this at the provider, in whichever project. $1 the provider's id */
export const isProviderDomainUsed = statement<{ used: boolean }>(
	'is-provider-domain-used',
	'select exists (select from domains where provider_domain_id = $1::text) as used',
)

/**
 * Three checks of the sweep in a row must find it wanting before a domain that was verified is so no
 * longer. Whoever asks again and again must neither lose it by that nor keep it: what was asked for is
 * not counted, and puts off no check of the sweep unless it finds that all is there.
 */
const patienceChecks = 3

export interface CheckedDomain extends DomainRow {
	/** By this check, and not before it. */
	wasLost: boolean
	/** Another project has proved the domain. */
	isHeld: boolean
}

const heldElsewhere =
	'The domain is verified in another project, which has to remove it or lose its DNS records first.'

/**
 * What a check found, and when the next one is due: soon where something may change soon, then ever
 * less often. No row: the domain was removed meanwhile.
 *
 * $1 project, $2 id, $3 whether all is there (null: that could not be found out), $4 records
 * (null: as they were), $5 what is wrong or null, $6 whether it is the sweep's
 */
export const noteCheck = statement<CheckedDomain>(
	'note-domain-check',
	`with checked as (
		select id, case when $3::bool then 0
			when not $3 and $6::bool then failed_checks + 1 else failed_checks end as failed,
			exists (${holder('$1', 'd.domain')}) as held
		from domains d where project_id = $1 and id = $2::uuid for no key update
	)
	update domains d set
		verified_at = case when $3::bool and not held then coalesce(d.verified_at, now())
			when failed >= ${patienceChecks} then null else d.verified_at end,
		failed_checks = failed, records = coalesce($4::jsonb, d.records), 
		last_error = case when held then '${heldElsewhere}' else $5::text end,
		token_exempt = d.token_exempt and failed < ${patienceChecks},
		last_checked_at = now(), updated_at = now(),
		next_check_at = least(case when ($3 is not true or held) and not $6 then d.next_check_at end, now() + case
			when $3 and not held then interval '6 hours'
			when d.verified_at is not null or d.created_at > now() - interval '1 day' then interval '4 minutes'
			when d.created_at > now() - interval '14 days' then interval '1 hour'
			else interval '1 day' end)
	from checked where d.id = checked.id
	returning ${columns('d')}, old.verified_at is not null and new.verified_at is null as "wasLost",
		held as "isHeld"`,
)

/**
 * Takes some of the domains whose check is due. Each comes due again with the next sweep but one,
 * whether or not this one gets to its end. $1 how many
 */
export const takeDueDomains = statement<DomainRow>(
	'take-due-domains',
	`with due as (
		select id from domains where next_check_at <= now() and not sweep_exempt
		order by next_check_at, id limit $1::int for no key update skip locked
	)
	update domains d set next_check_at = now() + interval '9 minutes'
	from due where d.id = due.id returning ${columns('d')}`,
)

/** Whom to tell of a domain. $1 project */
export const domainReaders = statement<Readers>(
	'domain-readers',
	`select ${readersOf('p')}
	from projects p where p.id = $1 and p.disabled_reason is null`,
)

export interface DomainUses {
	templates: { id: string; name: string }[]
	campaigns: { id: string; name: string; status: string }[]
}

/** What sends from it. Steps of workflows send by templates. $1 project, $2 domain */
export const domainUses = statement<DomainUses>(
	'domain-uses',
	`select
		coalesce((select jsonb_agg(jsonb_build_object('id', id, 'name', name) order by name)
			from templates where project_id = $1
				and lower(split_part("from", '@', 2)) = $2::text), '[]') as templates,
		coalesce((select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'status', status) order by name)
			from campaigns where project_id = $1 and status in ('DRAFT', 'SCHEDULED', 'SENDING')
				and lower(split_part("from", '@', 2)) = $2::text), '[]') as campaigns`,
)

/**
 * Removes a domain here, and has it removed at the provider. $1 project, $2 id, $3 task queue
 */
export const removeDomain = statement<{ id: string }>(
	'remove-domain',
	`with gone as (
		delete from domains where project_id = $1 and id = $2::uuid
		returning id, project_id, domain, provider_domain_id
	), told as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select project_id, 'start', ${priorities.automation}, 'removeDomain', 'remove-domain/' || id, $3::text,
			jsonb_build_object('providerDomainId', provider_domain_id), domain
		from gone where provider_domain_id is not null
	)
	select id from gone`,
)
