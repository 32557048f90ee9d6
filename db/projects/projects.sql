-- The project of our own mails: password resets, invitations, notices.
create or replace function platform_project() returns uuid
language sql immutable parallel safe
return '00000000-0000-7000-8000-000000000000'::uuid;

-- A project's public id is the id of its first data, until a reset gives it new data.
create or replace function set_public_id() returns trigger language plpgsql as $$
begin
	new.public_id := coalesce(new.public_id, new.id);
	return new;
end $$;

create or replace trigger projects_public_id before insert on projects
	for each row execute function set_public_id();

-- Deletes the rows of a deleted project from tables whose foreign keys are not enforced. The workflow that deletes
-- a project has deleted almost all of them in pages before.
create or replace function delete_rows_of_project() returns trigger language plpgsql as $$
begin
	delete from segment_members where project_id = old.id;
	delete from events where project_id = old.id;
	delete from attempts where project_id = old.id;
	delete from emails where project_id = old.id;
	delete from contacts where project_id = old.id;
	delete from contact_field_changes where project_id = old.id;
	-- After the mails and events that they count.
	delete from campaign_tallies where project_id = old.id;
	delete from mail_tallies where project_id = old.id;
	delete from usage_tallies where project_id = old.id;
	delete from reputation_tallies where project_id = old.id;
	delete from event_tallies where project_id = old.id;
	return null;
end $$;

create or replace trigger projects_deleted after delete on projects
	for each row execute function delete_rows_of_project();

-- Locks the project before its tallies and counts are folded, in the same order as resets and lifted suspensions:
-- project first, then tallies and counts. Returns false if another process folds under this name or holds the
-- project, or if the project is deleted. Nothing waits here.
create or replace function lock_for_folding(name text, project uuid) returns bool language plpgsql as $$
begin
	if not pg_try_advisory_xact_lock(hashtextextended(name, 0)) then
		return false;
	end if;
	perform from projects where id = project and deleted_at is null for key share skip locked;
	return found;
end $$;

-- The addresses of the members to notify about a project.
create or replace function readers_of(project uuid) returns text[]
language sql stable
return array(select u.email from memberships m join users u on u.id = m.user_id
	where m.project_id = project order by u.email);

-- No key has these digests, so nobody can call the API as the platform.
insert into projects (id, name, public_key, secret_key_digest, secret_key_ending, tracking, owner_verified)
values (platform_project(), 'Tempost', 'none', '', '', 'DISABLED', true)
on conflict do nothing;
