-- Triggers count what statements change, so that no statement can forget it. Their cost is several statements for each
-- one. The statements that write most mails, and a segment's members, know what they change: they count it themselves, in
-- the same statement, and these triggers leave it to them. The mark is the statement's time, so that it ends with the
-- statement.

create or replace function count_itself() returns bool
language sql volatile
return set_config('tempost.counted', statement_timestamp()::text, true) is not null;

create or replace function is_counted() returns bool
language sql stable
return coalesce(current_setting('tempost.counted', true) = statement_timestamp()::text, false);
