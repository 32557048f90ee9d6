import type { Pool } from 'pg'

interface Plan {
	'Node Type': string
	'Relation Name'?: string
	Alias?: string
	Plans?: Plan[]
	[condition: string]: unknown
}
interface Access {
	alias: string
	table: string
}

/**
 * Checks by Postgres' plan how a statement reaches the tables of projects. Returns the accesses that are
 * not bound to a project. An access is bound if its project_id equals a parameter, the project_id of
 * another bound access, or a column of something that is not a table, such as a CTE or a list of values.
 */
export async function scopeChecker(pool: Pool) {
	const { rows } = await pool.query<{ name: string; parent: string | null }>(
		`select c.relname as name, inhparent::regclass::text as parent
		from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_inherits on inhrelid = c.oid
		where a.attname = 'project_id' and c.relkind in ('r', 'p')
			and c.relnamespace = 'public'::regnamespace`,
	)
	const tables = new Set(rows.map(({ name }) => name))
	const parents = new Map(rows.flatMap(({ name, parent }) => (parent ? [[name, parent]] : [])))
	return async function unbound(text: string): Promise<string[]> {
		const explained = await pool.query(
			`explain (generic_plan, verbose, costs off, format json) ${text}`,
		)
		const nodes = nodesOf(explained.rows[0]['QUERY PLAN'][0].Plan as Plan)
		const accesses = nodes
			.filter((node) => node['Relation Name'] && node['Node Type'] !== 'ModifyTable')
			.map((node): Access => ({ alias: node.Alias!, table: node['Relation Name']! }))
		const { whole, parentOf } = withoutPartitions(accesses, parents)
		const equalities = nodes
			.flatMap(equalitiesOf)
			.map((sides) => sides.map((side) => side.replace(/^\w+/, parentOf)) as [string, string])
		const bound = boundAliases(whole, equalities)
		return whole
			.filter(({ alias, table }) => tables.has(table) && !bound.has(alias))
			.map(({ table }) => table)
	}
}

/**
 * Partitions are reached under the same conditions as their table. Postgres numbers their aliases after the
 * table's own: `e`, `e_1`, `e_2`.
 */
function withoutPartitions(accesses: Access[], parents: Map<string, string>) {
	const aliases = new Map<string, string>()
	const whole: Access[] = []
	for (const access of accesses) {
		const table = parents.get(access.table)
		const [, base, number] = /^(.*)_(\d+)$/.exec(access.alias) ?? []
		if (!table) whole.push(access)
		else {
			const before = Number(number) - 1
			const previous = before === 0 ? base! : `${base}_${before}`
			const alias = aliases.get(previous) ?? previous
			aliases.set(access.alias, alias)
			if (alias === previous) whole.push({ alias, table })
		}
	}
	return { whole, parentOf: (alias: string) => aliases.get(alias) ?? alias }
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const equality = /([\w.$"]+) = (?:ANY \()?\(?([\w.$"*']+)/g

/** Both sides of every equality in a node's conditions. */
const equalitiesOf = (node: Plan) =>
	Object.entries(node)
		.filter(([key]) => /Cond$|Filter$/.test(key))
		.flatMap(([, condition]) => [...String(condition).matchAll(equality)])
		.map(([, left, right]) => [left!, right!] as const)

function boundAliases(accesses: Access[], equalities: (readonly [string, string])[]) {
	const tableOf = new Map(accesses.map(({ alias, table }) => [alias, table]))
	const bound = new Set<string>()
	/** The alias whose project a column contains. */
	const projectOf = (column: string) => {
		const [alias = '', name] = column.split('.')
		const table = tableOf.get(alias)
		const names =
			table === 'projects' ? /^(id|public_id|public_key|secret_key_\w+)$/ : /^project_id$/
		return table && names.test(name ?? '') ? alias : undefined
	}
	/** Whether it comes from a bound table, or from no table. */
	const isGiven = (column: string) => {
		const alias = column.split('.')[0]!
		return !tableOf.has(alias) || (projectOf(column) === alias && bound.has(alias))
	}
	for (let size = -1; size < bound.size;) {
		size = bound.size
		for (const [left, right] of equalities)
			for (const [column, other] of [
				[left, right],
				[right, left],
			] as const) {
				const alias = projectOf(column)
				if (alias && isGiven(other)) bound.add(alias)
			}
	}
	return bound
}
