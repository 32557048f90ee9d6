import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'

/**
 * The database's own rules: its functions and triggers. Each file comes after those it uses and contains
 * `create or replace`, so its text is the current rule. A rule is removed by a migration of the next
 * release, because processes of the previous release may still use it.
 */
export const ruleFiles = [
	'counting.sql',
	'references.sql',
	'iso-time.sql',
	'idempotency-key.sql',
	'projects/projects.sql',
	'webhooks/webhooks.sql',
	'contacts/removed-contacts.sql',
	'contacts/contacts.sql',
	'contacts/contact-data.sql',
	'contacts/contact-fields.sql',
	'emails/emails.sql',
	'emails/may-send.sql',
	'events/events.sql',
	'events/sent-mails.sql',
	'events/event-counts.sql',
	'segments/segments.sql',
	'imports/imports.sql',
	'campaigns/campaign-counts.sql',
	'executions/executions.sql',
	'automations/automation-events.sql',
	'automations/automation-schedules.sql',
	'analytics/mail-counts.sql',
	'analytics/feed.sql',
	'billing/usage.sql',
	'reputation/reputation.sql',
]

/** Waiting longer for a table would block the writers queued behind us. */
const lockTimeoutMs = 1000
const busy = ['55P03', '40P01']

/** Applies the files that have changed since they were last applied, in one transaction. */
export async function applyRules(db: PoolClient) {
	const files = await Promise.all(ruleFiles.map(readRules))
	while (!(await applied(db, files))) await sleep(lockTimeoutMs)
}

async function readRules(name: string) {
	const text = await readFile(`${import.meta.dirname}/${name}`, 'utf8')
	return { name, text, digest: createHash('sha256').update(text).digest('hex') }
}

/** False: long transactions were using a table, so everything was rolled back. */
async function applied(db: PoolClient, files: Awaited<ReturnType<typeof readRules>>[]) {
	const { rows } = await db.query<{ name: string; digest: string }>(
		'select name, digest from rule_files',
	)
	const known = new Map(rows.map(({ name, digest }) => [name, digest]))
	const changed = files.filter(({ name, digest }) => known.get(name) !== digest)
	if (changed.length === 0) return true
	try {
		await db.query(`begin; set local lock_timeout = ${lockTimeoutMs}`)
		for (const { name, text, digest } of changed) {
			await db.query(text)
			await db.query(
				`insert into rule_files (name, digest) values ($1, $2)
				on conflict (name) do update set digest = excluded.digest, applied_at = now()`,
				[name, digest],
			)
		}
		await db.query('commit')
		return true
	} catch (error) {
		await db.query('rollback')
		if (busy.includes((error as { code?: string }).code ?? '')) return false
		throw error
	}
}
