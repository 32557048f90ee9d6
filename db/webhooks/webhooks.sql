-- Events and changes become deliveries to the endpoints that want them, in their own transaction. A project without
-- endpoints costs one look into an index per statement.

-- The type itself, its family (`contact.*`), or all.
create or replace function wants_webhook(events text[], type text) returns bool
language sql immutable parallel safe
return events && array[type, split_part(type, '.', 1) || '.*', '*'];

-- The endpoints of a project that want a type.
create or replace function webhook_endpoints_for(project uuid, type text) returns table (endpoint_id uuid, is_disabled bool, is_ordered bool)
language sql stable
as $$
	select w.id, w.disabled_reason is not null, w.ordering <> 'none' from webhook_endpoints w
	where w.project_id = project and w.deleted_at is null and wants_webhook(w.events, type)
$$;

create or replace function has_webhooks(project uuid) returns bool
language sql stable
as $$
	select exists (select from webhook_endpoints w where w.project_id = project and w.deleted_at is null)
$$;

create or replace function is_webhook_wanted(project uuid, type text) returns bool
language sql stable
as $$
	select exists (select from webhook_endpoints_for(project, type))
$$;

-- The same for the projects of a statement's rows. Triggers ask first, because most statements end here.
create or replace function any_has_webhooks(projects uuid[]) returns bool
language sql stable
as $$
	select exists (select from unnest(projects) project where has_webhooks(project))
$$;

create or replace function any_wants_webhook(projects uuid[], type text) returns bool
language sql stable
as $$
	select exists (select from unnest(projects) project where is_webhook_wanted(project, type))
$$;

-- Calls the relay, unless a run is at work: that finds the deliveries by itself. If it is just ending, the relay's next
-- look finds them, within a second.
create or replace function call_webhooks(project uuid) returns void language plpgsql as $$
begin
	if exists (
			select from webhook_endpoints w
			where w.project_id = project and w.deleted_at is null and w.disabled_reason is null
				and (w.leased_until is null or w.leased_until < clock_timestamp())
				and (w.resting_until is null or w.resting_until < clock_timestamp())) then
		perform pg_notify('outbox', '');
	end if;
end $$;

-- Writes a delivery of each event for each endpoint that wants it. Events are given with the columns of
-- webhook_deliveries. An event without an id gets one, which all endpoints share. A disabled endpoint keeps its events.
create or replace function announce(happened jsonb) returns void language plpgsql as $$
begin
	insert into webhook_deliveries
		(project_id, endpoint_id, event_id, type, email_id, contact_id, occurred_at, data, status, next_at)
	select h.project_id, w.endpoint_id, h.event_id, h.type, h.email_id, h.contact_id, h.occurred_at, h.data,
		case when w.is_disabled then 'HELD' else 'PENDING' end,
		case when not w.is_disabled then clock_timestamp() end
	from (
		select g.project_id, coalesce(g.event_id, uuidv7()) as event_id, g.type, g.email_id, g.contact_id,
			coalesce(g.occurred_at, clock_timestamp()) as occurred_at, g.data
		from jsonb_populate_recordset(null::webhook_deliveries, happened) g offset 0) h
	cross join lateral webhook_endpoints_for(h.project_id, h.type) w
	-- A mail is announced as delayed once.
	where h.type <> 'email.delayed' or not exists (
		select from webhook_deliveries d
		where d.email_id = h.email_id and d.endpoint_id = w.endpoint_id and d.type = h.type);
	if found then
		perform call_webhooks(project_id)
		from (select distinct g.project_id from jsonb_populate_recordset(null::webhook_deliveries, happened) g) p;
	end if;
end $$;

-- From this number on, an event of mails is one row for all of them.
create or replace function least_webhook_batch() returns int
language sql immutable parallel safe
return 20;

-- For the statement that records sent mails. Their rows have all that the payload needs, and a mail's id is its
-- event's. An endpoint that gets each mail's events in order has its deliveries at once.
create or replace function announce_sent_mails(project uuid, mails uuid[], has_late bool) returns void
language plpgsql as $$
begin
	if not is_webhook_wanted(project, 'email.sent') then
		return;
	end if;
	if has_late then
		-- A late mail is an event of its own: see emit_sent_mails.
		mails := array(select e.id from emails e where e.project_id = project and e.id = any(mails) and e.is_sent_event);
	end if;
	if cardinality(mails) >= least_webhook_batch() then
		insert into webhook_batches (project_id, endpoint_id, type, email_ids, occurred_at)
		select project, w.endpoint_id, 'email.sent', mails, now()
		from webhook_endpoints_for(project, 'email.sent') w where not w.is_ordered;
	end if;
	insert into webhook_deliveries (project_id, endpoint_id, event_id, type, email_id, occurred_at, status, next_at)
	select project, w.endpoint_id, m.id, 'email.sent', m.id, now(),
		case when w.is_disabled then 'HELD' else 'PENDING' end, case when not w.is_disabled then clock_timestamp() end
	from webhook_endpoints_for(project, 'email.sent') w cross join unnest(mails) m(id)
	where w.is_ordered or cardinality(mails) < least_webhook_batch();
	perform call_webhooks(project);
end $$;

-- For statements that record deferrals: no other row says whether it is the first. In their RETURNING, because a CTE
-- that only selects may never be run.
create or replace function announce_delay(project uuid, mail uuid, error text) returns bool
language plpgsql as $$
begin
	if not has_webhooks(project) then
		return false;
	end if;
	perform announce(jsonb_build_array(jsonb_build_object('project_id', project, 'type', 'email.delayed', 'email_id', mail,
		'data', jsonb_build_object('error', error))));
	return true;
end $$;

-- The type of webhook that an event of a contact or a mail becomes.
create or replace function webhook_type_of_event(name text) returns text
language sql immutable parallel safe
return case
	when name = 'email.delivery' then 'email.delivered'
	when name = 'email.open' then 'email.opened'
	when name = 'email.click' then 'email.clicked'
	when name = 'email.bounce' then 'email.bounced'
	when name = 'email.complaint' then 'email.complained'
	when name in ('email.sent', 'email.received', 'contact.subscribed', 'contact.unsubscribed') then name
	-- Only the service emits events with such names. Other names with dots are tracked ones.
	when name ~ '^segment\.[^.]+\.entry$' then 'segment.entered'
	when name ~ '^segment\.[^.]+\.exit$' then 'segment.left'
	else 'event.' || name end;

-- The parts of an event's data that its webhook contains, beside those that the mail's row has.
create or replace function webhook_data_of_event(type text, id uuid, name text, data jsonb, mail uuid) returns jsonb
language sql immutable parallel safe
return case
	when type like 'event.%' then jsonb_build_object('eventId', id, 'name', name, 'emailId', mail, 'data', data)
	when type like 'email.%' or type like 'segment.%' then (
		select jsonb_object_agg(key, value) from jsonb_each(data)
		where key in ('deliveredAt', 'openedAt', 'opens', 'isFirstOpen', 'clickedAt', 'link', 'clicks', 'isFirstClick',
			'bouncedAt', 'bounceType', 'complainedAt', 'receivedAt', 'messageId', 'sentAt', 'segmentId', 'segmentName')
			and (key <> 'messageId' or type = 'email.received') and (key <> 'sentAt' or type = 'email.sent')) end;

-- The same about a copy of the mail: its reader, who is no contact, instead of the mail's recipient.
create or replace function webhook_data_of_copy(webhook_type text, project uuid, mail uuid, place int) returns jsonb
language sql stable
as $$
	select jsonb_build_object('contactId', null, 'email', e.copies->place->'email')
		|| case webhook_type when 'email.bounced' then jsonb_build_object('error', e.copies->place->'error') else '{}' end
	from emails e where e.project_id = project and e.id = mail
$$;

create or replace function announce_events() returns trigger language plpgsql as $$
begin
	if not any_has_webhooks(array(select distinct project_id from added)) then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', e.project_id, 'event_id', e.id, 'type', t.type,
		'email_id', case when t.type like 'email.%' then e.email_id end,
		'contact_id', case when t.type not like 'email.%' then e.contact_id end, 'occurred_at', e.created_at,
		'data', webhook_data_of_event(t.type, e.id, e.name, e.data, e.email_id)
			|| case when e.data ? 'copy' and t.type in ('email.bounced', 'email.complained')
				then webhook_data_of_copy(t.type, e.project_id, e.email_id, (e.data->>'copy')::int)
				else '{}' end) order by e.id))
	from added e cross join lateral webhook_type_of_event(e.name) t(type)
	having count(*) > 0;
	return null;
end $$;

create or replace trigger events_announce after insert on events
	referencing new table as added
	for each statement execute function announce_events();

-- The type of webhook of a status that no event records.
create or replace function webhook_type_of_status(status text) returns text
language sql immutable parallel safe
return case status when 'FAILED' then 'email.failed' when 'SUPPRESSED' then 'email.suppressed'
	when 'CANCELLED' then 'email.cancelled' when 'UNCERTAIN' then 'email.uncertain'
	when 'SCHEDULED' then 'email.scheduled' end;

create or replace function webhook_data_of_status(status text, error text, scheduled_for timestamptz) returns jsonb
language sql stable parallel safe
return case status when 'SCHEDULED' then jsonb_build_object('scheduledFor', iso_text(scheduled_for))
	else jsonb_build_object('error', error) end;

-- Hardly any mail is born with such a status.
create or replace function announce_new_mails() returns trigger language plpgsql as $$
begin
	if not exists (select from added where webhook_type_of_status(status) is not null)
		or not any_has_webhooks(array(select distinct project_id from added)) then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', e.project_id, 'type', webhook_type_of_status(e.status),
		'email_id', e.id, 'data', webhook_data_of_status(e.status, e.error, e.scheduled_for))))
	from added e
	where webhook_type_of_status(e.status) is not null
	having count(*) > 0;
	return null;
end $$;

create or replace trigger emails_announce after insert on emails
	referencing new table as added
	for each statement execute function announce_new_mails();

-- A scheduled mail that is moved is announced again. Rows are matched by a hash, although a connection keeps the plan it
-- made for one mail.
create or replace function announce_changed_mails() returns trigger language plpgsql
	set enable_nestloop to off
as $$
begin
	-- Such a statement records sent mails, and announces them itself.
	if is_counted() or not exists (select from added where webhook_type_of_status(status) is not null)
		or not any_has_webhooks(array(select distinct project_id from added)) then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', e.project_id, 'type', webhook_type_of_status(e.status),
		'email_id', e.id, 'data', webhook_data_of_status(e.status, e.error, e.scheduled_for))))
	from added e join removed r on r.project_id = e.project_id and r.id = e.id
	where webhook_type_of_status(e.status) is not null
		and (e.status <> r.status or e.status = 'SCHEDULED' and e.scheduled_for <> r.scheduled_for)
	having count(*) > 0;
	return null;
end $$;

create or replace trigger emails_announce_changed after update on emails
	referencing old table as removed new table as added
	for each statement execute function announce_changed_mails();

create or replace function webhook_data_of_contact(id uuid, email text, subscribed bool, data jsonb) returns jsonb
language sql immutable parallel safe
return jsonb_build_object('contactId', id, 'email', email, 'subscribed', subscribed, 'data', data);

create or replace function announce_new_contacts() returns trigger language plpgsql as $$
begin
	if not any_wants_webhook(array(select distinct project_id from added), 'contact.created') then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', c.project_id, 'type', 'contact.created',
		'contact_id', c.id, 'data', webhook_data_of_contact(c.id, c.email, c.subscribed, c.data))))
	from added c
	having count(*) > 0;
	return null;
end $$;

create or replace trigger contacts_announce after insert on contacts
	referencing new table as added
	for each statement execute function announce_new_contacts();

create or replace function announce_changed_contacts() returns trigger language plpgsql
	set enable_nestloop to off
as $$
begin
	if not any_wants_webhook(array(select distinct project_id from added), 'contact.updated') then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', c.project_id, 'type', 'contact.updated',
		'contact_id', c.id, 'data', webhook_data_of_contact(c.id, c.email, c.subscribed, c.data))))
	from added c join removed r on r.id = c.id
	where (r.email, r.subscribed, r.data) is distinct from (c.email, c.subscribed, c.data)
	having count(*) > 0;
	return null;
end $$;

create or replace trigger contacts_announce_changed after update on contacts
	referencing old table as removed new table as added
	for each statement execute function announce_changed_contacts();

create or replace function announce_deleted_contacts() returns trigger language plpgsql as $$
begin
	if not any_wants_webhook(array(select distinct project_id from removed), 'contact.deleted') then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', c.project_id, 'type', 'contact.deleted',
		'contact_id', c.id, 'data', jsonb_build_object('contactId', c.id, 'email', c.email))))
	from removed c
	having count(*) > 0;
	return null;
end $$;

create or replace trigger contacts_announce_deleted after delete on contacts
	referencing old table as removed
	for each statement execute function announce_deleted_contacts();

-- Campaigns, executions, domains and projects change one by one.

create or replace function announce_campaign() returns trigger language plpgsql as $$
begin
	if not has_webhooks(new.project_id) then
		return null;
	end if;
	perform announce(jsonb_build_array(jsonb_build_object('project_id', new.project_id,
		'type', 'campaign.' || case when new.status = old.status then 'paused' when new.status = 'SENDING' then 'started'
			when new.status = 'SENT' then 'completed' else 'cancelled' end,
		'data', jsonb_build_object('campaignId', new.id, 'name', new.name, 'subject', new.subject,
			'totalRecipients', new.total_recipients)
			|| case when new.status = old.status then jsonb_build_object('reason', new.paused_reason)
				when new.status = 'CANCELLED' then jsonb_build_object('reason', new.cancelled_reason) else '{}' end)));
	return null;
end $$;

create or replace trigger campaigns_announce after update on campaigns
	for each row when (new.status in ('SENDING', 'SENT', 'CANCELLED') and new.status <> old.status
		or new.status = 'SENDING' and old.paused_at is null and new.paused_at is not null)
	execute function announce_campaign();

create or replace function announce_new_executions() returns trigger language plpgsql as $$
begin
	if not any_wants_webhook(array(select distinct project_id from added), 'execution.started') then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', x.project_id, 'type', 'execution.started',
		'contact_id', x.contact_id, 'occurred_at', x.started_at, 'data', jsonb_build_object('executionId', x.id,
			'workflowId', x.automation_id, 'workflowName', a.name))))
	from added x join automations a on a.project_id = x.project_id and a.id = x.automation_id
	having count(*) > 0;
	return null;
end $$;

create or replace trigger executions_announce after insert on executions
	referencing new table as added
	for each statement execute function announce_new_executions();

create or replace function announce_ended_execution() returns trigger language plpgsql as $$
begin
	if not has_webhooks(new.project_id) then
		return null;
	end if;
	perform announce(jsonb_agg(jsonb_build_object('project_id', new.project_id,
		'type', 'execution.' || case new.status when 'FAILED' then 'failed' when 'CANCELLED' then 'cancelled' else 'completed' end,
		'contact_id', new.contact_id, 'data', jsonb_build_object('executionId', new.id,
			'workflowId', new.automation_id, 'workflowName', a.name)
			|| case new.status when 'FAILED' then jsonb_build_object('error', new.error)
				else jsonb_build_object('exitReason', new.exit_reason) end)))
	from automations a where a.project_id = new.project_id and a.id = new.automation_id
	having count(*) > 0;
	return null;
end $$;

create or replace trigger executions_announce_ended after update on executions
	for each row when (old.status in ('RUNNING', 'WAITING') and new.status not in ('RUNNING', 'WAITING'))
	execute function announce_ended_execution();

create or replace function announce_domain() returns trigger language plpgsql as $$
begin
	if has_webhooks(new.project_id) then
		perform announce(jsonb_build_array(jsonb_build_object('project_id', new.project_id,
			'type', case when new.verified_at is null then 'domain.failed' else 'domain.verified' end,
			'data', jsonb_build_object('domainId', new.id, 'domain', new.domain)
				|| case when new.verified_at is null then jsonb_build_object('error', new.last_error) else '{}' end)));
	end if;
	return null;
end $$;

create or replace trigger domains_announce after update on domains
	for each row when ((old.verified_at is null) <> (new.verified_at is null))
	execute function announce_domain();

create or replace function announce_suspension() returns trigger language plpgsql as $$
begin
	if has_webhooks(new.id) then
		perform announce(jsonb_build_array(jsonb_build_object('project_id', new.id, 'type', 'project.suspended',
			'data', jsonb_build_object('projectId', new.public_id, 'reason', new.disabled_reason))));
	end if;
	return null;
end $$;

create or replace trigger projects_announce after update on projects
	for each row when (old.disabled_reason is null and new.disabled_reason is not null and new.deleted_at is null)
	execute function announce_suspension();

-- A project that is deleted or reset announces nothing of its removal.
create or replace function close_webhooks() returns trigger language plpgsql as $$
begin
	update webhook_endpoints set deleted_at = now() where project_id = new.id and deleted_at is null;
	return null;
end $$;

create or replace trigger projects_close_webhooks after update on projects
	for each row when (old.deleted_at is null and new.deleted_at is not null)
	execute function close_webhooks();
