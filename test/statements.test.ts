import test, { type ExecutionContext } from 'ava'
import { createStage } from '../db/imports/import-staging.ts'
import { bool, type Columns, int, text, uuid } from '../db/sql-types.ts'
import { poolOf, statement, statements } from '../db/statement.ts'
import { setupDatabase } from './helpers/database.ts'
import { describer } from './helpers/description.ts'
import { loadStatements } from './helpers/load-statements.ts'

// Postgres describes every statement, and its description is compared with ours.

async function setupDescriber(t: ExecutionContext) {
	const orm = await setupDatabase(t)
	const db = await (await poolOf(orm.em)).connect()
	t.teardown(() => db.release())
	return { db, faultsOf: await describer(db) }
}

test('statements match Postgres’ description of them', async (t) => {
	await loadStatements()
	const { db, faultsOf } = await setupDescriber(t)
	// A table that exists only in an import's transaction.
	await db.query(`begin; ${createStage}`)
	const wrong: Record<string, string[]> = {}
	for (const [name, found] of statements) {
		if (name.startsWith(ofTest)) continue
		await db.query('savepoint before')
		const faults = await faultsOf(found)
		await db.query('rollback to before')
		if (faults.length > 0) wrong[name] = faults
	}
	t.true(statements.size > 300, `${statements.size}`)
	t.deepEqual(wrong, {})
})

const ofTest = 'of a test'
const declared = {
	params: { id: uuid },
	row: { email: text, subscribed: bool },
}
const right = 'select email, subscribed from contacts where id = $id'

for (const [what, description, fault] of [
	[
		'a column of another name',
		{ ...declared, row: { ...declared.row, address: text }, text: right },
		/return address/,
	],
	['a column that is not there', { ...declared, text: right.replace('email', 'mail') }, /"mail"/],
	[
		'too few columns',
		{ ...declared, row: { email: text }, text: right },
		/returns subscribed, too/,
	],
	[
		'a column of another type',
		{ ...declared, row: { ...declared.row, subscribed: int }, text: right },
		/subscribed is bool, not int4/,
	],
	[
		'a parameter of another type',
		{ ...declared, params: { id: text }, text: right },
		/\$id is uuid, not text/,
	],
	[
		'a column that may be null',
		{ ...declared, row: { error: text }, text: 'select error from emails where id = $id' },
		/error may be null/,
	],
] as const)
	test(`a statement that declares ${what} is refused`, async (t) => {
		const { faultsOf } = await setupDescriber(t)
		const name = `${ofTest}: ${what}`
		statement<Columns, Columns>(name, description)
		const faults = await faultsOf(statements.get(name)!)
		t.is(faults.length, 1, faults.join())
		t.regex(faults[0]!, fault)
	})
