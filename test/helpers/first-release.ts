import type { Pool } from 'pg'
import { hashPassword } from '../../db/accounts/password.ts'
import { newKeys } from '../../db/projects/project-keys.ts'

/** The statuses that a mail of the first release may have, and the number of our mails in each. */
export const mailsOfStatus = {
	PENDING: 6,
	SENDING: 3,
	UNCERTAIN: 2,
	SENT: 40,
	DELIVERED: 7,
	OPENED: 5,
	CLICKED: 4,
	BOUNCED: 3,
	COMPLAINED: 2,
	FAILED: 3,
	SUPPRESSED: 2,
	CANCELLED: 2,
	RECEIVED: 1,
}
export const contactCount = 100
/** The recipients of the due campaign. */
export const recipientCount = 2
export const password = 'correct horse battery staple'

/** Data of the first release, in every table and every state, written by plain SQL. */
export async function fillFirstRelease(pool: Pool) {
	const { secretKey, columns: keys } = newKeys()
	const one = async (sql: string, values: unknown[] = []) =>
		(await pool.query<{ id: string }>(`${sql} returning id`, values)).rows[0]!.id
	const newProject = (name: string, of: typeof keys, disabledReason: string | null) =>
		one(
			`insert into projects (name, public_key, secret_key_digest, secret_key_ending, disabled_reason)
			values ($1, $2, $3, $4, $5)`,
			[name, of.publicKey, of.secretKeyDigest, of.secretKeyEnding, disabledReason],
		)
	const projectId = await newProject('First', keys, null)
	await newProject('Disabled', newKeys().columns, 'MANUAL')
	const userId = await one(
		`insert into users (email, password_hash, email_verified_at) values ('owner@example.com', $1, now())`,
		[await hashPassword(password)],
	)
	const put = (sql: string, values: unknown[] = []) => pool.query(sql, [projectId, ...values])
	await put(`insert into memberships (project_id, user_id, role) values ($1, $2, 'OWNER')`, [
		userId,
	])
	await put(
		`insert into domains (project_id, domain, verified_at, sweep_exempt) values ($1, 'example.com', now(), true)`,
	)
	await put(
		`insert into templates (project_id, name, subject, body, "from")
		values ($1, 'Old', 'Old news', '<p>Old</p>', 'news@example.com')`,
	)
	await put(
		`insert into contacts (project_id, email, subscribed, data)
		select $1, 'person-' || n || '@example.org', n % 2 = 0, jsonb_build_object('plan', 'pro', 'n', n,
			'tags', jsonb_build_array('a', null), 'long', repeat('é', n * 20))
		from generate_series(1, $2::int) n`,
		[contactCount],
	)
	await put(
		`insert into emails (project_id, contact_id, "to", "from", subject, body, source_type, template_id,
			status, attempt, attempt_started_at, provider, sent_at, delivered_at, opened_at, clicked_at, bounced_at,
			opens, clicks, request_id, created_at)
		select $1, c.id, c.email, 'hello@example.com', 'Old ' || n, '<p>Old</p>',
			case status when 'RECEIVED' then 'INBOUND' else 'TRANSACTIONAL' end,
			case when n = 1 then t.id end, status, tries,
			case when tries > 0 then now() - interval '2 hours' end, case when tries > 0 then 'local' end,
			case when status in ('SENT', 'DELIVERED', 'OPENED', 'CLICKED') then now() - interval '2 hours' end,
			case when status = 'DELIVERED' then now() end,
			case when status in ('OPENED', 'CLICKED') then now() end,
			case when status = 'CLICKED' then now() end, case when status = 'BOUNCED' then now() end,
			(status in ('OPENED', 'CLICKED'))::int, (status = 'CLICKED')::int, uuidv7(),
			now() - interval '3 hours'
		from (
			select status, row_number() over () as n
			from jsonb_each_text($2) as s(status, amount), generate_series(1, amount::int)) s
		cross join lateral (
			select case when status in ('PENDING', 'SUPPRESSED', 'CANCELLED', 'RECEIVED') then 0 else 1 end as tries) tried
		join contacts c on c.project_id = $1 and c.email = 'person-' || n || '@example.org'
		join templates t on t.project_id = $1`,
		[mailsOfStatus],
	)
	await put(
		`insert into attempts (project_id, email_id, attempt, at, outcome, provider)
		select project_id, id, attempt, attempt_started_at,
			case status when 'UNCERTAIN' then 'UNKNOWN' when 'FAILED' then 'REJECTED' else 'SENT' end, 'local'
		from emails where project_id = $1 and attempt > 0 and status <> 'SENDING'`,
	)
	await put(
		`insert into mailbox_messages (project_id, email_id, "to", "from", subject, raw)
		select project_id, id, "to", "from", subject, convert_to('Subject: ' || subject || E'\\r\\n\\r\\n', 'UTF8')
		from emails where project_id = $1 and status in ('SENT', 'SENDING')`,
	)
	// Claims that Temporal has yet to receive, and requests that are not claimed.
	await put(
		`insert into queued_sends (project_id, request_id, email_ids, claim_id, created_at)
		select project_id, min(request_id::text)::uuid, array_agg(id order by id),
			case when min(n) <= 6 then min(request_id::text)::uuid end, now() - interval '3 hours'
		from (
			select *, row_number() over (order by status desc, id) as n from emails
			where project_id = $1 and status in ('PENDING', 'SENDING', 'UNCERTAIN')) open
		group by project_id, ceil(n / 3.0)`,
	)
	await put(
		`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
		select project_id, 'start', 1, 'send', 'send/' || claim_id, 'core',
			jsonb_build_object('claimId', claim_id)
		from queued_sends where project_id = $1 and claim_id is not null`,
	)
	await put(
		`insert into events (project_id, name, contact_id, email_id, data, created_at)
		select $1, name, e.contact_id, e.id, '{"subject": "Old"}', now() - n * interval '7 hours'
		from (select *, row_number() over () as n from emails where project_id = $1 and status = 'SENT') e
		cross join (values ('email.sent'), ('signup')) named(name)`,
	)
	await put(
		`insert into suppressions (project_id, email, reason, email_id)
		select project_id, "to", 'BOUNCE', id from emails where project_id = $1 and status = 'BOUNCED'`,
	)
	await put(
		`insert into attachments (project_id, request_id, position, filename, content_type, content)
		select project_id, request_id, 0, 'a.txt', 'text/plain', 'a' from emails
		where project_id = $1 and status = 'SENT'`,
	)
	await put(
		`insert into idempotency_keys (project_id, key, request, claim_id, expires_at, status_code, response)
		values ($1, 'old', '{}', uuidv7(), now() + interval '1 hour', 200, '{}')`,
	)

	await put(`insert into send_budgets values ($1, now())`)
	await fillAudience(put)
	await fillAccounts(put, userId)
	await fillAutomations(put)
	await fillCounts(put)
	return { secretKey }
}

type Put = (sql: string, values?: unknown[]) => Promise<unknown>

/** A campaign that is due, and jobs that have ended. */
async function fillAudience(put: Put) {
	await put(
		`with segment as (
			insert into segments (project_id, name, type, member_count) values ($1, 'Old', 'STATIC', 2)
			returning project_id, id)
		insert into segment_members (project_id, segment_id, contact_id, computed)
		select s.project_id, s.id, c.id, false from segment s
		join contacts c on c.project_id = s.project_id and c.email in ('person-90@example.org', 'person-92@example.org')`,
	)
	await put(
		`with due as (
			insert into campaigns (project_id, name, subject, body, "from", audience_type, segment_id, status,
				scheduled_for, project_name, language, tracking)
			select project_id, 'Due', 'Due', '<p>Due</p>', 'hello@example.com', 'SEGMENT', id, 'SCHEDULED', now(),
				'First', 'en', 'ENABLED'
			from segments where project_id = $1 returning project_id, id)
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
		select project_id, 'start', 5, 'campaign', 'campaign/' || id, 'core',
			jsonb_build_object('projectId', project_id, 'campaignId', id) from due`,
	)
	await put(
		`with job as (
			insert into jobs (project_id, type, state, total, finished_at)
			values ($1, 'import', 'completed', 1, now()) returning project_id, id
		), file as (
			insert into import_files (project_id, job_id, content) select project_id, id, 'email' from job
		), chunk as (
			insert into import_chunks (project_id, job_id, position, rows, emails, subscribed, data, repeats)
			select project_id, id, 0, '{2}', '{a@example.org}', '{true}', '{"{}"}', 0 from job
		), change as (
			insert into import_changes (project_id, job_id, position, changed_at, contact_ids, marks, befores)
			select project_id, id, 0, now(), '{}', '{}', '{}' from job
		), ids as (
			insert into job_contacts (project_id, job_id, position, contact_ids) select project_id, id, 0, '{}' from job
		)
		insert into job_errors (project_id, job_id, row, error) select project_id, id, 3, 'No address' from job`,
	)
	await put(
		`insert into restored_contacts (project_id, contact_id, restored_at, as_of)
		select project_id, id, now(), now() from contacts where project_id = $1 limit 1`,
	)
}

async function fillAccounts(put: Put, userId: string) {
	for (const [table, columns, values] of [
		['sessions', 'digest, user_id, expires_at', `'1', $2, now() + interval '1 day'`],
		['account_tokens', 'digest, user_id, purpose, expires_at', `'1', $2, 'VERIFY_EMAIL', now()`],
		['oauth_identities', 'provider, subject, user_id', `'github', '1', $2`],
		[
			'audit_entries',
			'project_id, user_id, actor, action, status, ip, request_id',
			`$1, $2, 'owner@example.com', 'PATCH /users/@me/projects/{id}', 200, '127.0.0.1', uuidv7()`,
		],
	] as const)
		await put(
			`insert into ${table} (${columns}) select ${values} from projects where id = $1 and $2::uuid is not null`,
			[userId],
		)
	await put(
		`insert into invitations (project_id, email, role, token_digest, invited_by, expires_at)
		values ($1, 'new@example.com', 'MEMBER', '1', 'owner@example.com', now() + interval '1 day')`,
	)
	await put(`insert into webhook_secrets (project_id, secret) values ($1, 'whsec_b2xk')`)
	await put(`insert into billing_accounts (project_id, campaigns_limit) values ($1, 1000000)`)
	await put(
		`insert into suspensions (project_id, reason, lifted_at, told_at) values ($1, 'MANUAL', now(), now())`,
	)
	await put(
		`insert into request_budgets (project_id, spender, window_start, leased) values ($1, 'secret', now(), 1)`,
	)
	await put(
		`with throttled as (
			insert into throttles (key, tries, expires_at) values ('1', '{}', now()))
		, reported as (
			insert into provider_events (id, evidence) values ('1', null))
		insert into provider_states (name, away_since, until, answer)
		select 'resend', now(), now(), '503' where $1::uuid is not null`,
	)
}

/** An automation of one step, and an execution that an event has just started. */
async function fillAutomations(put: Put) {
	await put(
		`with automation as (
			insert into automations (project_id, name, enabled, event_name, current_version)
			values ($1, 'Old', true, 'renewed', 1) returning project_id, id
		), step as (
			insert into automation_steps (project_id, automation_id, type, name)
			select project_id, id, type, type from automation, unnest('{TRIGGER, EXIT}'::text[]) type
			returning project_id, automation_id, id, type
		), ends as (
			select project_id, automation_id, (array_agg(id order by type desc))[1] as first,
				(array_agg(id order by type))[1] as last
			from step group by 1, 2
		), transition as (
			insert into automation_transitions (project_id, automation_id, from_step_id, to_step_id)
			select project_id, automation_id, first, last from ends
		), named as (
			insert into automation_event_names (project_id, name, automation_id)
			select project_id, 'renewed', id from automation
		), enrolment as (
			insert into enrolments (project_id, automation_id, scheduled_for, workflow_id, audience, ended_at)
			select project_id, id, now(), 'enrol/old', '{}', now() from automation
		), removed as (
			insert into removed_automations (project_id, id) values ($1, uuidv7())
		)
		insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select project_id, automation_id, 1, jsonb_build_object(
			'trigger', '{"type": "EVENT", "eventName": "renewed"}'::jsonb, 'allowReentry', false,
			'steps', jsonb_build_array(
				jsonb_build_object('id', first, 'type', 'TRIGGER', 'name', 'TRIGGER', 'config', '{}'::jsonb, 'templateId', null),
				jsonb_build_object('id', last, 'type', 'EXIT', 'name', 'EXIT', 'config', '{}'::jsonb, 'templateId', null)),
			'transitions', jsonb_build_array(
				jsonb_build_object('fromStepId', first, 'toStepId', last, 'branch', null, 'priority', 0))), 'old', '{}'
		from ends`,
	)
	await put(
		`insert into events (project_id, name, contact_id)
		select project_id, 'renewed', id from contacts where project_id = $1 and email = 'person-50@example.org'`,
	)
	await put(
		`insert into execution_steps (project_id, execution_id, visit, step_id, type, status)
		select x.project_id, x.id, 0, s.id, 'TRIGGER', 'RUNNING' from executions x
		join automation_steps s on s.project_id = x.project_id and s.type = 'TRIGGER' where x.project_id = $1`,
	)
}

/** Statements fold at random, so some tallies may be gone by now. */
async function fillCounts(put: Put) {
	for (const count of ['event_tallies', 'mail_tallies', 'contact_fields', 'reputation', 'usage'])
		await put(`select fold_${count}($1)`)
	await put(
		`insert into campaign_counts (project_id, campaign_id) select project_id, id from campaigns where project_id = $1`,
	)
	await put(
		`insert into engagements (project_id, email_id, kind, fetcher, at)
		select project_id, id, 'OPEN', 'PERSON', now() from emails
		where project_id = $1 and status = 'CLICKED' limit 1`,
	)
	await put(
		`insert into usage_notices (project_id, month, category, level) values ($1, '2026-01-01', 'total', 80)`,
	)
	await put(
		`insert into usage_reports (project_id, month, value, at, reported_at) values ($1, '2026-01-01', 1, now(), now())`,
	)
}
