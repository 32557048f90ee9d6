/**
 * A list `name (id)` for a recursive WITH: the values that a column has in the rows of a table, each once. Each is found
 * by one look into an index that begins with the column, however many rows have it. The last id is null.
 */
export const indexWalk = (
	name: string,
	column: string,
	table: string,
	where = 'true',
) => `${name}(id) as (
		(select ${column} from ${table} where ${where} order by ${column} limit 1)
		union all
		select (
			select t.${column} from ${table} t
			where ${where} and t.${column} > ${name}.id order by t.${column} limit 1)
		from ${name} where ${name}.id is not null
	)`
