import test, { type ExecutionContext } from 'ava'
import { statements } from '../db/statement.ts'
import { recordQueries } from './helpers/queries.ts'
import { missing } from './helpers/furnished.ts'
import { type Route, setupRoutes } from './helpers/routes.ts'
import type { JsonSchema } from './helpers/schema-values.ts'
import { scopeChecker } from './helpers/scope.ts'

// Two projects with one of everything. No request of the first may reveal or change anything of the
// second.

const mark = 'zebra'

/** Fills the other project with a word that no answer to the first may contain. */
async function setupMarked(t: ExecutionContext) {
	const context = await setupRoutes(t)
	const { app, pool, theirs } = context
	const project = theirs['project']!
	for (const change of [
		`update contacts set email = id || '@${mark}.org', data = '{"${mark}": "${mark}"}'`,
		`update templates set name = '${mark}', subject = '${mark}', body = '${mark}'`,
		`update campaigns set name = '${mark}', subject = '${mark}', body = '${mark}'`,
		`update segments set name = '${mark}', description = '${mark}'`,
		`update automations set name = '${mark}'`,
		`update automation_steps set name = '${mark}'`,
		`update emails set subject = '${mark}', body = '${mark}', "to" = '${mark}@example.org'`,
		`update domains set domain = '${mark}.example'`,
		`insert into suppressions (project_id, email, reason) select project_id, email, 'MANUAL' from contacts`,
		`insert into events (project_id, name, contact_id) select project_id, '${mark}', id from contacts`,
	])
		await pool.query(`${change} where project_id = $1`, [project])
	const { rows: tables } = await pool.query<{ name: string }>(
		`select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
		where a.attname = 'project_id' and c.relkind in ('r', 'p') and not c.relispartition
			and c.relnamespace = 'public'::regnamespace`,
	)
	return {
		...context,
		/** All rows of the other project, table by table. */
		async snapshot() {
			const rows: Record<string, unknown> = {}
			for (const { name } of tables) {
				const found = await pool.query(
					`select to_jsonb(x) as row from ${name} x where project_id = $1 order by x::text`,
					[project],
				)
				rows[name] = found.rows
			}
			rows['projects'] = (await pool.query('select * from projects where id = $1', [project])).rows
			rows['users'] = (await pool.query('select id, email from users order by id')).rows
			return rows
		},
		app,
	}
}

test('nothing of another project is revealed or changed by any id', async (t) => {
	const context = await setupMarked(t)
	const { call, expect, problems, routes, secured, mine, theirs, valid, snapshot } = context
	const before = await snapshot()
	t.true(JSON.stringify(before).split(mark).length > 15)
	let asked = 0

	/** An answer may contain the other project's ids only if the request did. */
	async function ask(what: string, route: Route, options: Parameters<typeof call>[1] = {}) {
		const { status, headers, text: body } = await call(route, options)
		const text = JSON.stringify(headers) + body
		const known = JSON.stringify(options)
		const told = Object.values(theirs).filter(
			(id) => id.length > 10 && !known.includes(id) && text.includes(id),
		)
		expect(`${what} ${route.name}`, status !== 500, { status, text })
		expect(`${what} ${route.name} tells ${mark}`, !text.includes(mark), { status, text })
		expect(`${what} ${route.name} tells`, told.length === 0, { told, status, text })
		asked++
		return status
	}

	const theirProject = { 'x-project-id': theirs['project']! }
	for (const route of secured) {
		const key = context.headersFor(route)
		if (route.ids.length > 0) {
			const status = await ask('with their ids', route, { ids: theirs })
			expect(`${route.name} with their ids`, [404, 422].includes(status), { status })
		}
		for (const body of foreignBodies(route, valid(route), theirs))
			await ask(`with ${JSON.stringify(body).slice(0, 200)}`, route, { body })
		for (const query of foreignQueries(route, theirs))
			await ask(`with ${query}`, route, { query, headers: { ...key, ...theirProject } })
		if (route.operation['x-auth'] === 'secret key or session') {
			const headers = { ...context.ownerHeaders, ...theirProject }
			const status = await ask('as a stranger', route, { ids: theirs, headers })
			expect(`${route.name} as a stranger`, status === 403, { status })
		}
	}
	for (const [name, body] of deepForeignBodies(theirs)) {
		const route = routes.find((one) => one.name === name)!
		const status = await ask(`with ${JSON.stringify(body)}`, route, { body })
		expect(`${name} with ${JSON.stringify(body)}`, [400, 403, 404, 422].includes(status), {
			status,
		})
	}
	// The project's own records come last, because these requests delete some.
	for (const route of secured.toSorted(byHarm)) await ask('on my own', route, { ids: mine })

	t.true(asked > 350, `${asked}`)
	t.deepEqual(problems, [])
	t.deepEqual(await snapshot(), before)
})

test('a foreign id costs the same work as an unknown one, and every query names the project', async (t) => {
	const { call, expect, mine, pool, problems, secured, theirs } = await setupRoutes(t)
	const asked = recordQueries(pool)
	const nobodys = Object.fromEntries(
		Object.entries(theirs).map(([name, id]) => [name, name === 'version' ? id : missing]),
	)
	const texts = new Set<string>()
	for (const route of secured.toSorted(byHarm)) {
		if (route.ids.length > 0) {
			await call(route, { ids: nobodys })
			const forNobody = asked.splice(0)
			await call(route, { ids: theirs })
			const forTheirs = asked.splice(0)
			expect(route.name, forNobody.join() === forTheirs.join(), { forNobody, forTheirs })
		}
		await call(route, { ids: mine })
		for (const text of asked.splice(0)) texts.add(text)
	}
	t.deepEqual(problems, [])

	// Named statements are checked one by one in scope.test.ts.
	const named = new Set([...statements.values()].map(({ text }) => text))
	const unbound = await scopeChecker(pool)
	const beside: Record<string, string[]> = {}
	for (const text of texts) {
		if (named.has(text) || !/^\s*(select|insert|update|delete|with)\b/i.test(text)) continue
		const tables = await unbound(text)
		if (tables.length > 0) beside[text] = tables
	}
	t.deepEqual(beside, {})
	t.true(texts.size > 100, `${texts.size}`)
})

/** Requests that delete what later requests need come last. */
const byHarm = (a: Route, b: Route) => harm(a) - harm(b)
const harm = ({ name }: Route) =>
	['DELETE', 'bulk-delete', '/reset', '-keys'].findIndex((part) => name.includes(part)) + 1

/** One body per id member, with that id replaced by the other project's. */
function foreignBodies(route: Route, body: unknown, theirs: Record<string, string>): object[] {
	return Object.entries(route.body?.properties ?? {}).flatMap(([name, schema]): object[] => {
		const id = theirs[resourceOf(name)]
		if (!id) return []
		if (isId(schema)) return [{ ...(body as object), [name]: id }]
		return schema.items && isId(schema.items) ? [{ ...(body as object), [name]: [id] }] : []
	})
}

const isId = (schema: JsonSchema): boolean =>
	schema.format === 'uuid' || (schema.anyOf ?? []).some(isId)

/** templateId, contactIds, fromStepId: template, contact, step. */
const resourceOf = (name: string) =>
	name
		.replace(/Ids?$/, '')
		.replace(/^(from|to)(?=[A-Z])/, '')
		.toLowerCase()

function foreignQueries({ operation, name }: Route, theirs: Record<string, string>) {
	const byId = (operation.parameters ?? []).flatMap((parameter) => {
		const id = theirs[resourceOf(parameter.name)]
		return parameter.in === 'query' && id && isId(parameter.schema)
			? [`?${parameter.name}=${id}`]
			: []
	})
	const project = theirs['project']!
	const beside = `?projectId=${project}&project_id=${project}&project=${project}&search=zebr`
	return name.startsWith('GET') ? [...byId, beside] : byId
}

/** Ids at deeper places in a body, or within texts. */
function deepForeignBodies(theirs: Record<string, string>): [string, object][] {
	const { segment, template, contact, email } = theirs
	const condition = {
		logic: 'AND',
		groups: [{ filters: [{ field: `segment.${segment}`, operator: 'memberOfSegment' }] }],
	}
	const campaign = { name: 'C', subject: 'S', body: 'B', from: 'me@example.com' }
	const query = (filter: object) => ({ mode: 'query', filter })
	return [
		['POST /segments', { name: 'S', type: 'DYNAMIC', condition }],
		['POST /campaigns', { ...campaign, audienceType: 'FILTERED', audienceCondition: condition }],
		['POST /contacts/bulk-delete', query({ segmentId: segment })],
		['POST /contacts/bulk-delete', query({ condition })],
		['POST /events/track', { name: 'x', contactId: contact }],
		['POST /events/track', { name: 'x', emailId: email }],
		[
			'POST /workflows/{id}/steps',
			{ name: 'S', type: 'SEND_EMAIL', config: { templateId: template } },
		],
		['POST /workflows/{id}/steps', { name: 'S', type: 'CONDITION', config: condition }],
		[
			'POST /workflows',
			{
				name: 'W',
				triggerType: 'SCHEDULE',
				triggerConfig: { schedule: '0 0 * * *', segmentId: segment },
			},
		],
	]
}
