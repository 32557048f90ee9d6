import { priorities } from '../outbox/outbox.ts'
import { int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Campaigns with work left, whose runs Temporal is asked about. Left out are campaigns that changed within
 * the last minutes, that still have a row in the outbox, or that are scheduled far ahead and need no run
 * yet.
 */
export const openCampaigns = statement('open-campaigns', {
	params: { limit: int },
	row: { project_id: uuid, id: uuid, workflow_id: text },
	text: `with open as (
		select project_id, id, 'campaign/' || id as workflow_id from campaigns
		where status <> 'DRAFT' and closed_at is null and updated_at < now() - interval '5 minutes'
			and not (status = 'SCHEDULED' and scheduled_for > now() + interval '10 minutes')
	)
	select * from open where not exists (
		select from outbox o where o.workflow_id = open.workflow_id and o.done_at is null)
	order by random() limit $limit::int`,
})

/** Restarts lost runs. */
export const restartCampaigns = statement('restart-campaigns', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
		search_attributes)
	select project_id, 'start', ${priorities.bulk}, 'campaign', workflow_id, $taskQueue::text,
		jsonb_build_object('projectId', project_id, 'campaignId', id), 'found unfinished, started again',
		jsonb_build_object('CampaignId', id)
	from jsonb_to_recordset($runs::jsonb) as l(project_id uuid, id uuid, workflow_id text)`,
})
