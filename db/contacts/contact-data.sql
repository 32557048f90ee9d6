-- Custom data is at most 64 KB of JSON, as JavaScript writes it. Postgres adds a space after each colon and comma,
-- so these are subtracted. Data that is small in Postgres' own format is not serialised at all.
create or replace function contact_data_fits(data jsonb) returns bool
language sql immutable parallel safe
return pg_column_size(data) < 8192 or octet_length(data::text) <= 65536
	or octet_length(data::text) - (
		select coalesce(sum(case jsonb_typeof(node)
			when 'array' then greatest(jsonb_array_length(node) - 1, 0)
			when 'object' then greatest(2 * (select count(*) from jsonb_object_keys(node)) - 1, 0)
			else 0 end), 0)
		from jsonb_path_query(data, 'strict $.**') as node
	) <= 65536;
