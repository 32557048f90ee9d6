import { largeBody, largeCondition, largeData, largeStep, page } from './largest.ts'
import type { setupRoutes } from './routes.ts'

/** Fills rows up to the limits for written data, in the forms that are slowest to read. */
export async function fillWithLargeRows({
	pool,
	project,
	mine,
}: Pick<Awaited<ReturnType<typeof setupRoutes>>, 'pool' | 'project' | 'mine'>) {
	const data = JSON.stringify(largeData)
	const body = largeBody
	const raw = `Content-Type: multipart/mixed; boundary=edge\r\n\r\n--edge\r\nContent-Type: text/html\r\n\r\n${page.repeat(40_000)}\r\n--edge\r\nContent-Disposition: attachment; filename=a\r\n\r\n${page.repeat(280_000)}\r\n--edge--\r\n`
	const run = (sql: string, ...values: unknown[]) => pool.query(sql, values)
	const rows = 'from generate_series(1, 100) n'
	for (const table of ['contacts', 'events']) await run(`alter table ${table} disable trigger user`)
	await run(`update contacts set data = $1::jsonb`, data)
	await run(
		`insert into contacts (project_id, email, subscribed, data)
		select $1, n || '@example.org', true, $2::jsonb ${rows}`,
		project.id,
		data,
	)
	await run(
		`insert into segment_members (project_id, segment_id, contact_id, computed)
		select $1, $2, id, false from contacts where project_id = $1`,
		project.id,
		mine['segment'],
	)
	await run(
		`insert into segments (project_id, name, type, condition)
		select $1, 'S' || n, 'DYNAMIC', $2::jsonb ${rows}`,
		project.id,
		JSON.stringify(largeCondition),
	)
	await run(
		`insert into contact_fields (project_id, key, type, count)
		select $1, n || repeat('x', 90), 'string', 1 from generate_series(1, 5000) n`,
		project.id,
	)
	await run(
		`insert into contact_field_values (project_id, key, type, value, count)
		select $1, 'anything', 'string', to_jsonb(n || repeat('"', 490)), 1 ${rows}`,
		project.id,
	)
	await run(
		`insert into events (project_id, name, contact_id, data) select $1, 'e', $2, $3::jsonb ${rows}`,
		project.id,
		mine['contact'],
		data,
	)
	const answers = Array.from({ length: 20 }, () => ({
		at: new Date(),
		durationMs: 1,
		status: 500,
		answer: '"'.repeat(4096),
		error: null,
	}))
	await run(
		`insert into webhook_deliveries (project_id, endpoint_id, event_id, type, occurred_at, status)
		select $1, $2, uuidv7(), 'event.e', now(), 'FAILED' ${rows}`,
		project.id,
		mine['webhook endpoint'],
	)
	await run(
		`update webhook_deliveries set payload = $1, attempts = $2`,
		JSON.stringify({ type: 'event.e', data: largeData }),
		JSON.stringify(answers),
	)
	await run(
		`insert into event_counts (project_id, name, day, count)
		select $1, n || repeat('é', 240), now(), 1 from generate_series(1, 10000) n`,
		project.id,
	)
	await run(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, context, status)
		select $1, $2, 1, id, true, $3::jsonb, 'FAILED' from contacts where project_id = $1`,
		project.id,
		mine['workflow'],
		data,
	)
	await run(
		`insert into execution_steps (project_id, execution_id, visit, step_id, type, status, output)
		select $1, $2, 10 + n, uuidv7(), 'WEBHOOK', 'COMPLETED', $3::jsonb from generate_series(1, 64) n`,
		project.id,
		mine['execution'],
		data,
	)
	await run(
		`update automation_steps set type = 'WEBHOOK', config = $1 where type = 'EXIT'`,
		largeStep.config,
	)
	await run(
		`insert into automation_steps (project_id, automation_id, type, name, config)
		select $1, $2, 'WEBHOOK', 'S' || n, $3::jsonb from generate_series(1, 15) n`,
		project.id,
		mine['workflow'],
		JSON.stringify(largeStep.config),
	)
	await run(
		`update automation_versions set definition = definition || jsonb_build_object('steps', (
			select jsonb_agg(jsonb_build_object('id', id, 'type', type, 'name', name, 'config', config,
				'templateId', null)) from automation_steps s where s.project_id = $1)), positions = (
			select jsonb_object_agg(id, '{"x": 0, "y": 0}'::jsonb) from automation_steps s where s.project_id = $1)
		where project_id = $1`,
		project.id,
	)
	await run(`update templates set body = $1`, body)
	await run(`update campaigns set body = $1`, body)
	await run(
		`insert into templates (project_id, name, subject, body, "from")
		select $1, 'T' || n, 'S', $2, 'me@example.com' ${rows}`,
		project.id,
		body,
	)
	await run(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, audience_condition)
		select $1, 'C' || n, 'S', $2, 'me@example.com', 'FILTERED', $3::jsonb ${rows}`,
		project.id,
		body,
		JSON.stringify(largeCondition),
	)
	await run(
		`update emails set body = $1, headers = $2::jsonb`,
		page.repeat(400_000),
		JSON.stringify(
			Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`X-${i}`, 'x'.repeat(900)])),
		),
	)
	await run(
		`insert into emails (project_id, "to", "from", subject, body, headers, source_type, status, contact_id, campaign_id)
		select $1, n || '@example.org', 'me@example.com', repeat('s', 998), $2, e.headers, 'CAMPAIGN', 'FAILED', c.id, $3
		from (select *, row_number() over () as n from contacts where project_id = $1) c,
			(select headers from emails limit 1) e limit 100`,
		project.id,
		page.repeat(3000),
		mine['campaign'],
	)
	await run(
		`insert into audit_entries (project_id, actor, action, target, status, ip, user_agent, request_id)
		select public_id, 'a', 'POST /x', '{}', 200, '::1', repeat('é', 300), uuidv7()
		from projects, generate_series(1, 100) n where id = $1`,
		project.id,
	)
	const { rows: jobs } = await run(
		`insert into jobs (project_id, type, state) values ($1, 'import', 'completed') returning id`,
		project.id,
	)
	await run(
		`insert into job_errors (project_id, job_id, row, email, error)
		select $1, $2, n, repeat('é', 250), repeat('é', 200) from generate_series(1, 50000) n`,
		project.id,
		jobs[0].id,
	)
	await run(
		`insert into mailbox_messages (project_id, email_id, "to", "from", subject, raw)
		select $1, uuidv7(), 'a@example.org', 'b@example.org', repeat('s', 998), $2 from generate_series(1, 150)`,
		project.id,
		Buffer.from(`Subject: s\r\n\r\n${'x'.repeat(1000)}`),
	)
	const { rows: messages } = await run(
		`insert into mailbox_messages (project_id, email_id, "to", "from", subject, raw)
		select $1, uuidv7(), 'a@example.org', 'b@example.org', 's', $2 from generate_series(1, 3) returning id`,
		project.id,
		Buffer.from(raw),
	)
	Object.assign(mine, { message: messages[0].id, attachment: '0', job: jobs[0].id })
}
