import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

export interface OpenCampaign {
	project_id: string
	id: string
	workflow_id: string
}

/**
 * Campaigns with something left to do, unless they moved within the last minutes or Temporal is still to
 * be told of them: it is asked about their runs. Not those whose time is far: until then they need none,
 * and would be in the way of the others. $1 how many at most
 */
export const openCampaigns = statement<OpenCampaign>(
	'open-campaigns',
	`with open as (
		select project_id, id, 'campaign/' || id as workflow_id from campaigns
		where status <> 'DRAFT' and closed_at is null and updated_at < now() - interval '5 minutes'
			and not (status = 'SCHEDULED' and scheduled_for > now() + interval '10 minutes')
	)
	select * from open where not exists (
		select from outbox o where o.workflow_id = open.workflow_id and o.done_at is null)
	order by random() limit $1::int`,
)

/** Starts lost runs again. $1 campaigns as `openCampaigns` answers them, $2 task queue */
export const restartCampaigns = statement(
	'restart-campaigns',
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
		search_attributes)
	select project_id, 'start', ${priorities.bulk}, 'campaign', workflow_id, $2::text,
		jsonb_build_object('projectId', project_id, 'campaignId', id), 'found unfinished, started again',
		jsonb_build_object('CampaignId', id)
	from jsonb_to_recordset($1::jsonb) as l(project_id uuid, id uuid, workflow_id text)`,
)
