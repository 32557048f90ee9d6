-- Whether a campaign of the project has recipients whose mails are not in the ledger yet, or is just finding them.
create or replace function has_mails_to_come(project uuid) returns bool language plpgsql stable parallel safe as $$
begin
	return exists (select from audience_pages where project_id = project)
		or exists (
			select from campaigns where project_id = project and closed_at is null
				and status = 'SENDING' and materialised_at is null);
end $$;
