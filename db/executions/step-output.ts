/** The response to a call is stored while all outputs of its execution stay within this size. */
export const maxStoredBytes = 2 ** 20

/** The outputs of other steps, such as the data of events, are stored beyond that and are read up to this size. */
export const maxReadBytes = 2 * 2 ** 20

/**
 * The latest output of each of `$stepIds`, however often an execution has been at a step. The project is compared
 * outside: otherwise the planner may walk all visits backwards by the primary key.
 */
export const latestOutputs = `select latest.* from unnest($stepIds::uuid[]) as step(id) cross join lateral (
		select project_id, step_id, visit, type, output from execution_steps
		where execution_id = $executionId and step_id = step.id and output is not null
		order by visit desc limit 1) latest
	where latest.project_id = $projectId`

/** The id of the mail of step `s`. */
export const mailIdOfStep = `(s.output ->> 'emailId')::uuid`

/** The output of step `s`, with its mail's data from `mailOfStep`. */
export const outputOfStep = `(case when e.sent_at is null then s.output
		else s.output || jsonb_build_object('sentAt',
			iso_text(e.sent_at)) end)`

/** Looked up by its id, whatever the planner assumes about a new ledger. */
export const mailOfStep = `left join lateral (
		select sent_at from emails
		where s.type = 'SEND_EMAIL' and project_id = s.project_id and id = ${mailIdOfStep}
		offset 0) e on true`
