-- Reads a date in custom data as db/iso-time.ts does; null for anything else. A text that matches the pattern
-- gets an explicit time zone, so that the cast depends on no setting. The casts can't fail:
-- pg_input_is_valid finds days that don't exist.
create or replace function iso_time(t text) returns timestamptz
language sql stable parallel safe
return case
	when t !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-4]):?[0-5][0-9])?)?$' then null
	when t ~ '^.{10}$' then case when pg_input_is_valid(t || 'T00:00:00Z', 'timestamptz') then (t || 'T00:00:00Z')::timestamptz end
	when t ~ 'T[^Z+-]*$' then case when pg_input_is_valid(t || 'Z', 'timestamptz') then (t || 'Z')::timestamptz end
	when pg_input_is_valid(t, 'timestamptz') then t::timestamptz
end;

-- Formats a time as JavaScript's toISOString does.
create or replace function iso_text(t timestamptz) returns text
language sql stable parallel safe
return to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
