import { randomUUID } from 'node:crypto'
import { Email } from '../../db/emails/email.ts'
import { poolOf } from '../../db/statement.ts'
import { smtpProvider } from '../../outside/providers/smtp.ts'
import { cpuMeter } from '../cpu.ts'
import { lanes } from '../load.ts'
import type { SinkProcess } from '../sink.ts'
import type { Stack } from '../stack.ts'
import { content } from './campaign-run.ts'

/** What a mailer can't do without, measured alone: CPU seconds per 1,000 mails. */
export interface Floors {
	/** Our own client hands ready-made messages over, on 20 connections. */
	socket: number
	/** One insert and one update of each row, with the ledger's columns and indexes, and nothing else. */
	postgres: number
	/** Bytes of a sent mail's row that is written once, with its primary key. */
	stored: number
}

const mails = 20_000
const inFlight = 200
const batch = 200

export const floorsOf = async (
	stack: Stack,
	sink: SinkProcess,
	temporal: string,
): Promise<Floors> => ({
	socket: await bareSocket(sink),
	postgres: await barePostgres(stack, temporal),
	stored: await bareBytes(stack),
})

async function bareSocket(sink: SinkProcess) {
	const provider = smtpProvider({ url: sink.url, concurrency: 20 })
	const head = `From: ${content.from}\r\nSubject: bare\r\nContent-Type: text/html\r\n`
	const body = content.body.repeat(2).replaceAll('\n', '\r\n')
	const withdrawal = new AbortController().signal
	let sent = 0
	const before = process.cpuUsage()
	await lanes(
		inFlight,
		() => sent < mails,
		async () => {
			const to = `bare-${sent++}@example.org`
			const raw = () => `${head}To: ${to}\r\nX-Tempost-Email: ${to}\r\n\r\n${body}\r\n`
			await provider.deliverReady!({ from: content.from, to, raw, withdrawal })
		},
	)
	const { user, system } = process.cpuUsage(before)
	await provider.close()
	return (user + system) / 1000 / mails
}

async function barePostgres(stack: Stack, temporal: string) {
	const pool = await poolOf(stack.orm.em)
	await pool.query('create table bare_mails (like emails including all)')
	for (const action of Email.partitions.storage)
		await pool.query(`alter table bare_mails ${action}`)
	const meter = await cpuMeter(stack, temporal)
	const campaign = randomUUID()
	for (let done = 0; done < mails; done += batch) {
		const { rows } = await pool.query<{ id: string }>({
			name: 'bare-insert',
			text: `insert into bare_mails (project_id, contact_id, "to", "from", from_name, subject, language, type,
					source_type, campaign_id, status, attempt, attempt_started_at, first_attempt_at, provider, tracked)
				select $1, uuidv7(), 'recipient-' || n || '@example.org', $2, 'News', 'News for {{ firstName }}', 'en',
					'MARKETING', 'CAMPAIGN', $3, 'SENDING', 1, now(), now(), 'smtp', true
				from generate_series($4::int, $4::int + ${batch} - 1) n
				returning id`,
			values: [stack.projectId, content.from, campaign, done],
		})
		await pool.query({
			name: 'bare-update',
			text: `update bare_mails set status = 'SENT', sent_at = now(), updated_at = now(), subject = 'News for Ann',
					provider_message_id = '250 OK'
				where project_id = $1 and id = any($2)`,
			values: [stack.projectId, rows.map(({ id }) => id)],
		})
	}
	const seconds = meter.read().postgres
	await pool.query('drop table bare_mails')
	return (seconds / mails) * 1000
}

async function bareBytes({ orm, projectId }: Stack) {
	const pool = await poolOf(orm.em)
	await pool.query(
		`create table bare_rows as select * from emails where project_id = '${projectId}' and status = 'SENT' limit ${mails}`,
	)
	await pool.query('alter table bare_rows add primary key (project_id, id)')
	const { rows } = await pool.query<{ bytes: number }>(
		`select pg_total_relation_size('bare_rows')::float8 / count(*) as bytes from bare_rows`,
	)
	await pool.query('drop table bare_rows')
	return rows[0]!.bytes
}
