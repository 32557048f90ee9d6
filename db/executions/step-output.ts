/** What step `s` has brought, with what `mailOfStep` knows of its mail. */
export const outputOfStep = `case when e.sent_at is null then s.output
		else s.output || jsonb_build_object('sentAt',
			to_char(e.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end as output`

/** Joined by its step, whatever the planner takes a new ledger for. */
export const mailOfStep = `left join lateral (
		select sent_at from emails
		where s.type = 'SEND_EMAIL' and project_id = s.project_id and workflow_step_execution_id = s.id
		offset 0) e on true`
