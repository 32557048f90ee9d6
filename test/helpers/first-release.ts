import type { Pool } from 'pg'
import { hashPassword } from '../../db/accounts/password.ts'
import { newKeys } from '../../db/projects/project-keys.ts'

/** The only migration of the first release. */
export const firstMigration = 'Migration20261121043000'

/** In which a mail of the first release may have been, and how many of ours were. */
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
export const password = 'correct horse battery staple'

/** What the first release may have left behind, in every table and every state, put there by plain SQL. */
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
	// Claims that Temporal is still to be told of, and requests that nobody has claimed.
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
	await put(`insert into rate_budgets values ($1, now(), 1)`)
	await put(`insert into send_budgets values ($1, now())`)
	return { secretKey }
}
