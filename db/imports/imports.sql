-- Merges the rows of one address in the order of the file: each cell keeps its last value.
create or replace aggregate jsonb_merge(jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}');
