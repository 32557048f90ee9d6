-- Feed entries for changes that have no event: campaigns and executions. db/analytics/mail-counts.sql adds those of
-- mails.

create or replace function feed_campaign() returns trigger language plpgsql as $$
begin
	insert into feed_entries (project_id, type, metadata)
	values (new.project_id, case new.status when 'SENT' then 'campaign.sent' else 'campaign.scheduled' end,
		jsonb_strip_nulls(jsonb_build_object('campaignId', new.id, 'campaignName', new.name,
			'subject', new.subject, 'totalRecipients', new.total_recipients,
			'scheduledFor', iso_text(new.scheduled_for))));
	return null;
end $$;

create or replace trigger campaigns_feed after update on campaigns
	for each row when (new.status = 'SENT' and old.status <> 'SENT'
		or new.status = 'SCHEDULED'
			and (old.status is distinct from new.status or old.scheduled_for is distinct from new.scheduled_for))
	execute function feed_campaign();

create or replace function feed_started_executions() returns trigger language plpgsql as $$
begin
	insert into feed_entries (project_id, type, at, contact_id, metadata)
	select x.project_id, 'workflow.started', x.started_at, x.contact_id,
		jsonb_strip_nulls(jsonb_build_object('workflowId', x.automation_id, 'workflowName', a.name,
			'executionId', x.id, 'eventName', x.event->'name'))
	from added x join automations a on a.project_id = x.project_id and a.id = x.automation_id;
	return null;
end $$;

create or replace trigger executions_feed_started after insert on executions
	referencing new table as added
	for each statement execute function feed_started_executions();

create or replace function feed_completed_execution() returns trigger language plpgsql as $$
begin
	insert into feed_entries (project_id, type, at, contact_id, metadata)
	select new.project_id, 'workflow.completed', new.completed_at, new.contact_id,
		jsonb_strip_nulls(jsonb_build_object('workflowId', new.automation_id, 'workflowName', a.name,
			'executionId', new.id, 'eventName', new.event->'name',
			'status', new.status, 'exitReason', new.exit_reason))
	from automations a where a.project_id = new.project_id and a.id = new.automation_id;
	return null;
end $$;

create or replace trigger executions_feed_completed after update on executions
	for each row when (new.status in ('COMPLETED', 'EXITED') and old.status in ('RUNNING', 'WAITING'))
	execute function feed_completed_execution();
